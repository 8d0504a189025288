--- Pastes at the prompt: README's example, line by line and between the marks that terminals put
-- around a paste; and Ctrl-C in training.

local lu = require "luaunit"
local readme_example = require "tools.readme_example"
local shell = require "tools.shell"
local toy_study = require "tools.toy_study"

local tests = {}
local EDITING = shell.run_ladies {"-e", "print(require('ladies_host').line_editing)"} == "true\n"

-- A text as an order of tools/pty.c types it.
local function typed(text)
  return (text:gsub("\\", "\\\\"):gsub("\n", "\\r"):gsub("\t", "\\t"))
end

-- README's example, on a small graph for few epochs.
local function example() return (readme_example():gsub("epochs = %d+", "epochs = 2")) end

-- A terminal that puts marks around what is pasted.
local MARKS = {"TERM=xterm", "NO_COLOR=1"}

-- The session goes on after the example and its F1: the example's locals are there.
local AFTER = [[

    expect >\s
    send #sampler(data.train, ladies.rng(1)).blocks, model.n_layers, batch\r
    expect 5, 5, nil\r\n
    send adam\r
    expect Adam of 10 parameters
]]

function tests.test_readme_line_by_line()
  lu.assertNil(shell.talk("expect >\nsend " .. typed(example()) .. "\nexpect \\n0." .. AFTER))
end

function tests.test_readme_between_marks()
  lu.skipIf(not EDITING, "built without libedit")
  lu.assertNil(shell.talk("expect \\e[?2004h\nsend \\e[200~" .. typed(example())
    .. "\\e[201~\\r\nexpect \\e[?2004l0." .. AFTER, nil, MARKS))
end

--- A paste may be a whole file, with tabs and lines that go on in the next one; an expression at
-- the end is shown.
function tests.test_a_file_between_marks()
  lu.skipIf(not EDITING, "built without libedit")
  local text = "-- \xc3\xa9\nlocal x = ladies.ones(2, 2)\nlocal y = x\n\t:sum()\n"
    .. "function twice(a)\n\treturn 2 * a\nend\n"
    .. ("local z = 1 -- " .. ("z"):rep(60) .. "\n"):rep(90) .. "twice(y):item()\n\n"
  lu.assertNil(shell.talk("expect \\e[?2004h\nsend \\e[200~" .. typed(text) .. [[
\e[201~\r
    expect l8.0\r\n
    send x:sum():item() + #"\e[200~ab\e[201~"\r
    expect l6.0\r\n
    send error "no"\r
    expect   100 | error "no"\r\n
    # Ctrl-C within a paste drops it
    send \e[200~y = 1\x03
    expect >\s
    send 1 + 1\r
    expect l2\r\n
  ]], nil, MARKS))
end

--- Training that is interrupted gives what there is so far.
function tests.test_ctrl_c_in_training()
  local function train(options)
    return ('run = ladies.train{data = data, model = model, sampler = sampler, epochs = 1e6, '
      .. 'patience = 0, eval_every = 1, batch_size = 20, %s}\n'):format(options)
  end
  lu.assertNil(shell.talk("send " .. typed(([[
local data = ladies.data.load %q
local sampler = ladies.samplers.full(data.graph:normalize "sym", {layers = 2})
local model = ladies.nn.gcn{inputs = data.features.n_cols, outputs = data.classes, layers = 2}
]]):format(toy_study.dataset)
    .. train "on_batch = function(at) if at.batch == 30 then print 'go' end end") .. [[

    expect go\r\n
    send \x03
    expect >\s
    send run.stopped, run.batches >= 30, run.best_value > 0.3\r
    expect "interrupted", true, true\r\n
    send run\r
    expect test micro-F1
    expect ended by     interrupted
  ]]))
end

return tests
