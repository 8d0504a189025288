--- `ladies view`: the page of a run has the numbers that the library gives, needs no other file,
-- and shows hostile names as text.
local lu = require "luaunit"
local ladies = require "ladies"
local browser = require "tools.browser"
local files = require "tools.files"
local html_elements = require "tools.html_elements"
local json = require "ladies.base.json"
local made_up = require "reference.made_up_laboratory"
local shell = require "tools.shell"
local svg = require "ladies.report.svg"
local temporary = require "reference.temporary"
local toy = require "reference.toy_data"

local tests = {}

local IMAGE = "<img src=x onerror=\"document.title='taken'\">"

-- The toy data with names, in a file.
local function named_data(labels)
  local data, names = toy.new(true), {}
  for v = 1, toy.NODES do names[v] = ("node <%d>"):format(v) end
  names[data.test[1]], names[data.test[2]] = made_up.HOSTILE, IMAGE
  local path = temporary.path(labels and "several.npz" or "named.npz")
  ladies.data.save(ladies.data.from_arrays{name = IMAGE, graph = data.graph.adjacency,
    features = data.features, labels = labels or data.labels, train = data.train, val = data.val,
    test = data.test, node_names = names, class_names = {IMAGE, made_up.HOSTILE, "third"}}, path)
  return path
end

-- A run of `ladies train` on it, made once, and its page.
local run_path, page
local function viewed()
  if not page then
    run_path = temporary.path "run"
    shell.succeeded(shell.run_ladies{"train", named_data(), "--samples", "20", "--layers",
      "2", "--hidden", "16", "--batch-size", "20", "--lr", "0.02", "--max-batches", "40", "--model",
      "gcn", "--out", run_path, "--quiet"})
    lu.assertEquals(shell.silent(shell.run_ladies{"view", run_path}), run_path .. "/view.html\n")
    page = files.read(run_path .. "/view.html")
  end
  return page
end

local function has(text) lu.assertStrContains(viewed(), text) end

-- The cells of the rows of the table that begins behind a text.
local function rows_behind(html, text)
  local rows, first = {}, html:find(text, 1, true)
  for row in html:match("<tbody>(.-)</tbody>", first):gmatch "<tr>(.-)</tr>" do
    local cells = {}
    for cell in row:gmatch "<t[hd][^>]*>(.-)</t[hd]>" do cells[#cells + 1] = cell end
    rows[#rows + 1] = cells
  end
  return rows
end

function tests.test_numbers()
  viewed()
  local run = ladies.saved_run(run_path)
  local test, labels = run.data.test, run.data.labels
  local logits = run:logits(test)
  local predicted = logits:argmax()
  has(("<h2>%.1f %%</h2>\n<p>test micro-F1</p>"):format(
    100 * ladies.metrics.micro_f1(predicted, labels[test])))
  has(("<h2>%.1f %%</h2>\n<p>test macro-F1</p>"):format(
    100 * ladies.metrics.macro_f1(predicted, labels[test])))
  has("<p>Blind: micro-F1 0.3333, macro-F1 0.1667: the first of 3 classes of most training nodes, "
    .. "for all.</p>")
  local counts = ladies.metrics.confusion(predicted, labels[test], 3)
  local rows = rows_behind(viewed(), "Each class")
  for class, row in ipairs(rows) do
    local truth, given = 0, 0
    for other = 1, 3 do
      truth, given = truth + counts[class][other], given + counts[other][class]
    end
    lu.assertEquals({row[2], row[4], row[5]}, {("%d"):format(truth),
      ("%.1f"):format(100 * counts[class][class] / given),
      ("%.1f"):format(100 * counts[class][class] / truth)})
  end
  lu.assertEquals(#rows, 3)
  local most = 0
  for class = 1, 3 do
    for other = 1, 3 do most = math.max(most, class ~= other and counts[class][other] or 0) end
  end
  lu.assertEquals(rows_behind(viewed(), "What is confused most often")[1][3], ("%d"):format(most))
end

--- The nodes in the order of the probability of their class, by name.
function tests.test_hardest_nodes()
  viewed()
  local run, list = ladies.saved_run(run_path), {}
  local data, probabilities = run.data, run:logits(run.data.test):softmax()
  for i = 1, #data.test do
    local id = data.test[i]
    list[i] = {name = data.node_names[id], p = probabilities:get(i, data.labels[id])}
  end
  table.sort(list, function(a, b) return a.p < b.p end)
  local rows = rows_behind(viewed(), "The hardest nodes")
  lu.assertEquals(#rows, math.min(50, #data.test))
  for k = 1, 5 do
    lu.assertEquals({rows[k][1], tonumber(rows[k][4])},
      {svg.text(list[k].name), tonumber(("%.2g"):format(list[k].p))})
  end
end

--- A page that calls nodes by their numbers says from which these count.
function tests.test_nodes_without_names()
  local data, text = toy.new(), "without names count from 1 here, from 0 in files."
  lu.assertNotStrContains(viewed(), text)
  local out = temporary.path "unnamed"
  ladies.train{data = data, out = out, quiet = true, max_batches = 1,
    model = ladies.nn.gcn{inputs = toy.FEATURES, outputs = 3, hidden = 8, layers = 1},
    sampler = ladies.samplers.full(data.graph:normalize "sym", {layers = 1})}
  local html = ladies.saved_run(out, {data = data}):page()
  lu.assertStrContains(html, text)
  local row = rows_behind(html, "The hardest nodes")[1]
  local id = tonumber(row[1]:match "^node (%d+)$")
  lu.assertEquals(row[2], "class " .. data.labels[id])
end

function tests.test_the_page_stands_alone()
  local counts = html_elements(viewed())
  for _, name in ipairs{"script", "img", "link", "iframe", "a", "object", "use", "image"} do
    lu.assertNil(counts[name], name)
  end
  lu.assertEquals({counts.html, counts.h1, counts.figure}, {1, 1, 3})
  for markup in viewed():gsub("<style>.-</style>", ""):gmatch "<[^<>]*>" do
    lu.assertNil(markup:find "^<[^>]*%son%a+=", markup)
  end
  has "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;"
  lu.assertNil(viewed():find "[%z\1-\9\11-\31]")
  lu.assertNil(viewed():gsub("http://www.w3.org", ""):find "https?://")
  has '<tr><th scope="row" class="words">lr</th><td class="words">0.02</td></tr>'
end

--- Nodes of several classes, of a script's run; another part of the split, into another file.
function tests.test_several_classes()
  local labels = ladies.zeros(toy.NODES, 3)
  for v = 1, toy.NODES do
    labels:set_(v, (v - 1) % 3 + 1, 1)
    if v % 4 == 0 then labels:set_(v, 3, 1) end
  end
  local data, out = ladies.data.load(named_data(labels)), temporary.path "scripted"
  ladies.train{data = data, out = out, quiet = true, max_batches = 20, lr = 0.02,
    model = ladies.nn.gcn{inputs = toy.FEATURES, outputs = 3, hidden = 8, layers = 1},
    sampler = ladies.samplers.full(data.graph:normalize "sym", {layers = 1})}
  local file = temporary.path "other.html"
  shell.succeeded(shell.run_ladies{"view", out, "--split", "val", "--out", file})
  local several, run = files.read(file), ladies.saved_run(out)
  html_elements(several)
  lu.assertStrContains(several, "<p>val micro-F1</p>")
  local rows = rows_behind(several, "Each class")
  for class, count in ipairs(run.data.labels[run.data.val]:col_sums():to_table()) do
    lu.assertEquals(rows[class][2], ("%d"):format(count // 1))
  end
  lu.assertStrContains(several, svg.text(IMAGE .. ", third"))
end

--- A page is written over by a page, and nothing else is: not what the user has put in its place,
-- nor what is the run's or of its data set.
function tests.test_what_is_not_a_page_stays()
  viewed()
  local view = run_path .. "/view.html"
  local function refused(text, file, ...)
    local before = files.read(file)
    shell.refuses({"ladies view: ", text}, shell.run_ladies{"view", run_path, ...})
    lu.assertEquals(files.read(file), before)
  end
  lu.assertEquals(select(3, shell.run_ladies{"view", run_path}), 0)
  lu.assertEquals(files.read(view), viewed())
  refused("is model.npz of the run", run_path .. "/model.npz", "--out", run_path .. "/model.npz")
  refused("is of the data set", temporary.path "named.npz", "--out", temporary.path "named.npz")
  for _, own in ipairs{"", "my notes\n", viewed() .. "and my notes\n"} do
    files.write(view, own)
    refused("view.html is no page of ladies view and is left as it is", view)
    refused("view.html is no page of ladies view", view, "--out", run_path .. "/./view.html")
  end
  files.write(view, viewed())
end

--- The page of another data set has a name of its own, and the run's stays.
function tests.test_another_data_set()
  viewed()
  local other = temporary.path "other set.npz"
  files.write(other, files.read(temporary.path "named.npz"))
  local out = shell.succeeded(shell.run_ladies{"view", run_path, "--dataset", other})
  lu.assertStrMatches(out, ".*/view%-[%w_.-]+%.html\n")
  lu.assertEquals(files.read(run_path .. "/view.html"), viewed())
  lu.assertStrContains(files.read(out:sub(1, -2)), "<html")
end

function tests.test_refusals()
  local _, err, status = shell.run_ladies{"view"}
  lu.assertEquals({err, status}, {"ladies view: which run? ladies view RUN\n", 1})
  _, err = shell.run_ladies{"view", temporary.path "nothing"}
  lu.assertStrContains(err, "there is no run in ")
end

--- The page in a browser is as it should be, light and dark, wide and narrow, and names do nothing
-- in it.
function tests.test_in_a_browser()
  browser.needs "playwright"
  viewed()
  local said = browser.see("browse_page.py", {run_path .. "/view.html"})
  lu.assertEquals(said.trouble, {})
  local backgrounds = {}
  for name, view in pairs(said.views) do
    lu.assertEquals(view.title, "LADIES (20) on named")
    lu.assertStrContains(view.text, "What is confused most often\nclass\ttaken for\tnodes\n")
    lu.assertStrContains(view.text, IMAGE)
    lu.assertNotTableContains(view.tags, "img")
    lu.assertEquals(#view.pictures, 3)
    for _, size in ipairs(view.pictures) do
      lu.assertTrue(math.min(table.unpack(size)) > 100, json.encode(view.pictures))
    end
    lu.assertEquals(view.beyond, 0, name)
    lu.assertNotEquals(view.background, view.ink)
    backgrounds[name:match "%a+"] = view.background
  end
  lu.assertNotEquals(backgrounds.light, backgrounds.dark)
end

return tests
