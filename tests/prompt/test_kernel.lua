--- The kernel for Jupyter, through jupyter_client and a Python that has it and ipykernel
-- (LADIES_PYTHON, or else the one that scripts/test installs); and its installation.

local lu = require "luaunit"
local files = require "tools.files"
local json = require "ladies.base.json"
local readme_example = require "tools.readme_example"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local toy_study = require "tools.toy_study"

local tests = {}

-- An absolute path, for programs that run in other folders.
local root = os.getenv "LADIES_SOURCE"
local python = os.getenv "LADIES_PYTHON" or root .. "/build/python/bin/python"

local function needs_jupyter()
  local _, _, status = shell.run{python, "-c", "import ipykernel, jupyter_client"}
  if status ~= 0 then lu.skip "no Python with ipykernel and jupyter_client (scripts/test)" end
end

-- Returns the answers of the kernel, installed into a new folder, to the requests of
-- tools/kernel_talk.py.
local function talk(requests)
  needs_jupyter()
  local folder <close> = shell.folder()
  local path = folder.path .. "/jupyter"
  shell.silent(shell.run_ladies{"kernel", "--install", "--python", python, "--into",
    path})
  local asked = files.write(folder.path .. "/requests", json.encode(requests))
  local out = shell.succeeded(shell.run({python, root .. "/tests/tools/kernel_talk.py", asked},
    {env = {"JUPYTER_PATH=" .. path, "OPENBLAS_NUM_THREADS=1"}, folder = folder.path}))
  local answers = {}
  for line in out:gmatch "[^\n]+" do answers[#answers + 1] = json.decode(line) end
  lu.assertEquals(#answers, #requests)
  return answers
end

local function result(text) return {kind = "execute_result", data = {["text/plain"] = text}} end
local function printed(text) return {kind = "stream", name = "stdout", text = text} end

-- Returns the text of all outputs to the stream `name`, joined: Jupyter may cut them anywhere.
local function stream_of(answer, name)
  local parts = {}
  for _, output in ipairs(answer.outputs) do
    if output.name == name then parts[#parts + 1] = output.text end
  end
  return table.concat(parts)
end

function tests.test_cells()
  local answers = talk{
    {run = "local n = 20\nprint 'one'\nn + 1"},
    {run = "n, _"},
    {run = "io.stderr:write 'aside'; print('\u{e9}\\xff')"},
    {run = "display(ladies.ones(1, 2)); print 'below'"},
    {run = "ladies.ones(2, 3):matmul(ladies.ones(2, 3))"},
    {run = "io.read()"},
  }
  lu.assertEquals(answers[1].outputs, {printed "one\n", result "21"})
  lu.assertEquals(answers[2].outputs, {result "20, 21"})
  lu.assertEquals(stream_of(answers[3], "stderr"), "aside")
  lu.assertEquals(stream_of(answers[3], "stdout"), "\u{e9}\u{fffd}\n")
  lu.assertStrContains(answers[4].outputs[1].data["text/html"], "<table>")
  lu.assertEquals(answers[4].outputs[2], printed "below\n")
  lu.assertEquals(answers[5].reply.status, "error")
  lu.assertEquals(answers[5].reply.evalue, "stdin:7: matmul: (2 x 3) * (2 x 3)")
  lu.assertEquals(answers[5].outputs[1].kind, "error")
  lu.assertStrContains(table.concat(answers[5].reply.traceback, "\n"), "  7 | ladies.ones(2, 3)")
  lu.assertEquals(answers[6].outputs, {result "nil"})
end

function tests.test_completion_inspection_and_completeness()
  local answers = talk{
    {complete = "x = '\u{e9}' .. ladies.schedule.cos + 1", at = 30},
    {inspect = "ladies.schedule.cosine{batches = 10}", at = 34},
    {inspect = "nothing", at = 3},
    {is_complete = "for i = 1, 2 do"},
    {is_complete = "1 + 1"},
  }
  lu.assertEquals(answers[1],
    {status = "ok", matches = {"cosine"}, cursor_start = 27, cursor_end = 30})
  lu.assertTrue(answers[2].found)
  lu.assertStrContains(answers[2].data["text/plain"], "half a cosine")
  lu.assertFalse(answers[3].found)
  lu.assertEquals({answers[4].status, answers[5].status}, {"incomplete", "complete"})
end

--- Ctrl-C stops what runs within half a second, Lua and C alike, and the variables are there still.
function tests.test_interrupt()
  local answers = talk{
    {run = "local kept = 7; local a = ladies.ones(3000, 3000)"},
    {run = "print 'go'\nwhile true do end", interrupt_at = "go"},
    {run = "print 'go'\nfor i = 1, 1000 do a:matmul(a) end", interrupt_at = "go"},
    {run = ([[
      local data = ladies.data.load %q
      local run = ladies.train{data = data, epochs = 1e6, patience = 0, eval_every = 1,
        model = ladies.nn.gcn{inputs = data.features.n_cols, outputs = data.classes, layers = 1},
        sampler = ladies.samplers.full(data.graph:normalize "sym", {layers = 1}),
        on_batch = function(at) if at.batch == 5 then print "go" end end}
      run.stopped]]):format(toy_study.dataset), interrupt_at = "go"},
    {run = "kept"},
  }
  lu.assertEquals(table.remove(answers[4].outputs), result '"interrupted"')
  table.remove(answers, 4)
  for i = 2, 3 do
    lu.assertEquals(answers[i].reply.evalue, "interrupted")
    lu.assertTrue(answers[i].seconds < 10, answers[i].seconds)
  end
  lu.assertEquals(answers[4].outputs, {result "7"})
end

--- A bar is one output, which changes in its place.
function tests.test_progress_bar()
  local answers = talk{{run = [[
    local bar = ladies.progress{total = 4, clock = function() return 0 end}
    for i = 1, 4 do bar:update(i, i) end
    bar:clear()
    print "done"]]}}
  local kinds = tables.map(answers[1].outputs, function(output) return output.kind end)
  lu.assertEquals(kinds, {"display_data", "update_display_data", "update_display_data",
    "update_display_data", "update_display_data", "stream"})
  lu.assertEquals(answers[1].n_bars, 1)
  lu.assertStrContains(answers[1].outputs[1].data["text/plain"], "batch 1/4 [======     ")
  lu.assertEquals(answers[1].outputs[5].data["text/plain"], "")
end

--- The tutorial's code comes into a new cell.
function tests.test_the_next_cell()
  local answers = talk{{run = "tutorial(2)"}, {run = "1"}}
  lu.assertEquals(answers[1].reply.payload,
    {{source = "set_next_input", text = 'data:show("dog.n", 5)', replace = false}})
  lu.assertStrContains(stream_of(answers[1], "stdout"), "Step 2 of 10")
end

--- When the program ends the notebook is told why, and the next cell has a new one.
function tests.test_the_program_ends()
  local answers = talk{
    {run = "local x = 1; io.write 'last words'; os.exit(3, true)"},
    {run = "x"},
    {run = "local y = 2"},
    {restart = true},
    {run = "y"},
  }
  lu.assertEquals(stream_of(answers[1], "stdout"), "last words")
  lu.assertEquals(answers[1].reply.evalue,
    "ladies has ended with status 3; the next cell starts it anew, without your variables")
  lu.assertEquals(answers[2].outputs, {result "nil"})
  lu.assertEquals(answers[5].outputs, {result "nil"})
end

-- Returns the form of a cell's outputs: their kinds and types, and the texts of those that have
-- nothing else, without numbers and places, which differ between machines. Streams are joined,
-- since they may be cut anywhere.
local function shape_of(outputs)
  local shapes, streams = {}, {}
  for _, output in ipairs(outputs) do
    local kind = output.output_type or output.kind
    if kind == "stream" then
      streams[#streams + 1] = output.text
    elseif not output.is_bar then
      local types = tables.sorted_keys(output.data)
      shapes[#shapes + 1] = table.concat({kind, table.unpack(types)}, " ")
      if #types == 1 then streams[#streams + 1] = output.data[types[1]] end
    end
  end
  local text = table.concat(streams):gsub("/%S*/share/ladies/", ""):gsub("%d[%d.,]*", "0")
  return {shapes, text}
end

--- The whole experiment of README.md in a cell, on a small graph, and its locals in the next one.
function tests.test_the_experiment_of_the_readme()
  local answers = talk{{run = readme_example()}, {run = "#data.train"}}
  lu.assertEquals(answers[1].reply.status, "ok", answers[1].reply.evalue)
  local f1 = tonumber(stream_of(answers[1], "stdout"))
  lu.assertTrue(f1 >= 0 and f1 <= 1, f1)
  lu.assertEquals(answers[2].outputs, {result "60"})
end

--- doc/notebook.ipynb shows what it shows today.
function tests.test_the_notebook_of_the_documentation()
  local notebook = json.decode(files.read(root .. "/doc/notebook.ipynb"), "notebook.ipynb")
  local requests, kept = {}, {}
  for _, cell in ipairs(notebook.cells) do
    if cell.cell_type == "code" then
      requests[#requests + 1] = {run = cell.source}
      kept[#kept + 1] = shape_of(cell.outputs)
    end
  end
  lu.assertTrue(#requests > 5)
  for i, answer in ipairs(talk(requests)) do
    lu.assertEquals(answer.reply.status, "ok", requests[i].run)
    lu.assertEquals(shape_of(answer.outputs), kept[i],
      "python3 tests/tools/fill_notebook.py doc/notebook.ipynb makes it")
  end
end

function tests.test_installation_says_what_is_missing()
  local folder <close> = shell.folder()
  local _, complaint, status = shell.run_ladies{"kernel", "--install", "--python", "no-such-python"}
  lu.assertEquals({complaint, status},
    {"ladies kernel: there is no program no-such-python; --python names one\n", 1})
  -- A Python without the module.
  local fake = files.write(folder.path .. "/python",
    "#!/bin/sh\necho \"ModuleNotFoundError: No module named 'ipykernel'\" >&2; exit 1\n")
  shell.run{"chmod", "+x", fake}
  _, complaint, status = shell.run_ladies{"kernel", "--install", "--python", fake, "--into",
    folder.path}
  lu.assertEquals({complaint, status}, {("ladies kernel: %s cannot run the kernel: "
    .. "ModuleNotFoundError: No module named 'ipykernel' (%s -m pip install ipykernel)\n"):format(
    fake, fake), 1})
  lu.assertEquals(select(2, shell.run{"ls", folder.path .. "/kernels"}) ~= "", true)
  _, complaint = shell.run_ladies{"kernel"}
  lu.assertEquals(complaint, "ladies kernel: --install writes the kernel; --help says more\n")
end

return tests
