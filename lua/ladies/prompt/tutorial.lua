--- The tutorial of the prompt and of notebooks: ten steps, each of a few sentences and the lines of
-- code that it is about. tutorial() shows one; its lines then wait for Enter on an empty line, and
-- once they have run the next step follows.

local chunk = require "ladies.prompt.chunk"
local errors = require "ladies.base.errors"
local failure = require "ladies.prompt.failure"
local host = require "ladies_host"
local options = require "ladies.base.options"
local style = require "ladies.prompt.style"
local wrap = require "ladies.base.wrap"

local WIDEST = 80   -- columns

local tutorial = {}

-- The steps. Lines of code use the variables that those of earlier steps make.
local STEPS = {
  {title = "a data set", text = [[A data set is a graph with features and classes of its nodes.
    WordNet comes with the program: a node is a meaning of a word, edges are relations such as "is
    a kind of", and there are 45 classes. What stands behind the last semicolon is shown.]],
    code = [[local data = ladies.data.load "wordnet"; data]]},
  {title = "its graph", text = [[A node is shown with what is known of it: its class, whether it is
    for training, validation or test, and its neighbours, whose features a graph network mixes
    with its own.]],
    code = [[data:show("dog.n", 5)]]},
  {title = "the matrix P", text = [[A layer of a graph convolutional network (GCN) multiplies the
    nodes' vectors by a sparse matrix P. Here it is the graph with self-loops, divided by the square
    roots of the degrees, D^-1/2 (A+I) D^-1/2; the picture shows where its entries lie.]],
    code = [[local P = data.graph:normalize "sym"; P]]},
  {title = "a mini-batch", text = [[For 64 nodes a network of two layers reads thousands of others,
    one of five most of the graph. A sampler takes some of them: LADIES draws 512 for each layer
    among the neighbours of the layer above. Other samplers are in ladies.samplers, and yours is a
    function like this one.]],
    code = [[local sampler = ladies.samplers.ladies(P, {samples = {512, 512}})
local batch = sampler(data.train:slice(1, 64), ladies.rng(1))
batch]]},
  {title = "a model", text = [[A model is a table of parameters with a function `forward`. This is
    a GCN of two layers; ?ladies.nn lists other networks.]],
    code = [[local inputs, outputs = data.features.n_cols, data.classes
local model = ladies.nn.gcn{inputs = inputs, outputs = outputs, layers = 2, hidden = 64}
model]]},
  {title = "one step of training", text = [[What is computed while a step is open can be
    differentiated: `backward` computes the gradient of the loss, and the optimizer changes the
    parameters by it. The loss begins near ln 45 = 3.8, that of a guess among 45 classes.]],
    code = [[local adam = ladies.optim.adam(model:parameters(), {lr = 0.01})
do
  local step <close> = ladies.step()
  local logits = model:forward(data.features, batch)
  local loss = ladies.loss.cross_entropy(logits, data.labels[batch.output])
  loss:backward()
  adam:step()
  print("loss", loss:item())
end]]},
  {title = "training", text = [[The loop is not yours to write, though you may: ladies.train makes
    mini-batches, takes steps, validates, and keeps the best parameters. Ctrl-C ends it early and
    loses nothing.]],
    code = [[local run = ladies.train{data = data, model = model, sampler = sampler, lr = 0.01,
  batch_size = 256, max_batches = 200}
run]]},
  {title = "inference", text = [[A trained model needs no sampler: logits are computed exactly, with
    all neighbours. This is the share of the test nodes whose class it finds, and then the class
    that it gives the first of them.]],
    code = [=[local predicted = ladies.inference.exact(model, data):argmax()
ladies.metrics.f1(model, data, data.test), data.class_names[predicted[data.test[1]]]]=]},
  {title = "the laboratory", text = [[Is a sampler right? The laboratory sets its mini-batches
    beside the exact network: how far off they are, by bias or by noise, and why. It takes some
    seconds; here is the verdict alone, `lab` shows all of it.]],
    code = [[local lab = ladies.lab(sampler, {dataset = data, against = {}, seconds = 1})
print(lab.examinations[1].verdict)]]},
  {title = "where to go on", text = [[`help "neighbours"` and `?neighbours` look for words in all
    documentation, Tab completes names, and `who()` lists the variables that you have made by now.
    In the pages, guide/first-sampler.md has a sampler of your own, data.md your own data,
    training.md the loop. This last line lists the library.]],
    code = "help()"},
}

local shown, waits = 0, false   -- the step, and whether its code waits to be run
local errors_before             -- while that runs: how many errors there were before it

-- Returns the sentence that names the variables which a step's code uses and nobody has made yet,
-- with the steps that make them; nil where there are none.
local function missing(n)
  local words = {}
  for i = 1, n - 1 do
    for name in ("\n" .. STEPS[i].code):gmatch "\nlocal (%w+)" do
      local is_used = STEPS[n].code:find("%f[%w_]" .. name .. "%f[^%w_]")
      if is_used and chunk.locals()[name] == nil and rawget(_G, name) == nil then
        words[#words + 1] = ("%s of step %d"):format(name, i)
      end
    end
  end
  return words[1] and ("It uses %s, which is not there yet."):format(table.concat(words, ", "))
end

--- tutorial([n: integer]): shows a step of the tutorial, ten short ones from a data set to the
-- laboratory, and the code that it is about. Enter on an empty line runs that code, and the next
-- step follows; in a notebook it stands in the next cell. Without n it goes on: with the first
-- step, or with the one whose code has not run. Other code may be run in between.
function tutorial.show(n)
  if n == nil then n = math.max(shown, 1) end
  options.value("tutorial", "the step", n, "positive integer")
  if n > #STEPS then
    errors.fail(("tutorial: there are %d steps, no step %d"):format(#STEPS, n))
  end
  local step = STEPS[n]
  shown, waits, errors_before = n, true, nil
  local width = math.min(host.width(), WIDEST)
  print(style.head(("Step %d of %d: %s"):format(n, #STEPS, step.title)))
  print(table.concat(wrap(step.text .. " " .. (missing(n) or ""), width), "\n"))
  print(("\n%s\n"):format(("\n" .. step.code):gsub("\n+", "\n  "):sub(2)))
  if n == 1 then
    print(style.faint "Enter runs these lines (in a notebook, the next cell), and step 2 follows.")
  end
end

--- Returns the code that waits for Enter; nil for none.
function tutorial.waiting()
  return waits and STEPS[shown].code or nil
end

-- Returns a text with its blanks made equal, however its lines were pasted.
local function bare(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

--- Notes that a text is about to run, which may be the code of the step that is shown.
function tutorial.watch(text)
  if waits and bare(text) == bare(STEPS[shown].code) then errors_before = failure.count() end
end

--- Shows the next step where the code of the one before it has run, to its end.
function tutorial.go_on()
  local has_run = errors_before == failure.count()
  errors_before = nil
  if not has_run then return end
  waits = false
  if shown == #STEPS then
    shown = 0
  else
    print()
    tutorial.show(shown + 1)
  end
end

return tutorial
