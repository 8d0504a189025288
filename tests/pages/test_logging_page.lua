--- doc/logging.md: its programs send all numbers of a run, while it trains, to the clients that
-- stand in for the real ones (tools/log_clients), which are large and change; they have the
-- functions that the page calls, as the real ones declare them.
local lu = require "luaunit"
local files = require "tools.files"
local json = require "ladies.base.json"
local page_blocks = require "tools.page_blocks"
local page_commands = require "tools.page_commands"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"

local tests = {}
local root = os.getenv "LADIES_SOURCE"
local page = root .. "/doc/logging.md"

local CLIENTS = {"tensorboard", "wandb", "mlflow"}
local SECONDS = 300  -- in which what runs beside the test must end

local function needs_python()
  lu.skipIf(select(3, shell.run{"sh", "-c", "command -v python3"}) ~= 0, "no python3")
end

local function decoded(path)
  return tables.map(files.lines(path), function(line) return json.decode(line) end)
end

-- Runs lines of the shell in a folder, which see $clients.
local function run_there(folder, text)
  local env = {"clients=" .. root .. "/tests/tools/log_clients", "PYTHONDONTWRITEBYTECODE=1"}
  return shell.silent(shell.run({"timeout", tostring(SECONDS), "sh", "-ec", text},
    {folder = folder, env = env}))
end

-- The numbers of the lines of a log and of a summary as the page names them: name@batch -> value.
local function numbers_of(run)
  local found = {}
  local function add(record, batch, prefix)
    for name, value in pairs(record) do
      if type(value) == "number" and name ~= "batch" then
        found[("%s%s@%d"):format(prefix, name, batch)] = value
      end
    end
  end
  for _, record in ipairs(decoded(run .. "/log.jsonl")) do
    add(record, record.batch, "")
    add(record.validation or {}, record.batch, "validation/")
  end
  local summary = json.decode(files.read(run .. "/summary.json"))
  add(summary.test, summary.batches, "test/")
  return found
end

function tests.test_each_client()
  needs_python()
  local folder <close> = shell.folder()
  for _, block in ipairs(page_blocks(files.read(page))) do
    if block.language == "python" then
      files.write(folder.path .. "/" .. block.file, block.text)
    end
  end
  -- They begin before the run does, and end with it.
  run_there(folder.path, ([[
    for name in %s; do
      (SENT=$name.sent PYTHONPATH=$clients timeout %d python3 to_$name.py runs/deep) 2>$name.log &
    done >/dev/null]]):format(table.concat(CLIENTS, " "), SECONDS))
  page_commands(page, folder.path)
  local run = folder.path .. "/runs/deep"
  local expected = numbers_of(run)
  lu.assertTrue(expected["loss@100"] and expected["test/micro-F1@100"] ~= nil)
  for _, name in ipairs(CLIENTS) do
    local sent = ("%s/%s.sent"):format(folder.path, name)
    run_there(folder.path, ("until grep -sq '\"end\"' %s.sent; do sleep 0.1; done"):format(name))
    local found, calls = {}, {}
    for _, record in ipairs(decoded(sent)) do
      calls[record.call] = record
      for key, value in pairs(record.call == "numbers" and record.found or {}) do
        found[("%s@%d"):format(key, record.batch)] = value
      end
    end
    lu.assertEquals(found, expected, name)
    lu.assertEquals(calls.begin.name:match "[^/]*$", "deep")
    if name ~= "tensorboard" then
      lu.assertEquals(calls.settings.found, json.decode(files.read(run .. "/config.json")))
    end
    lu.assertEquals(files.read(("%s/%s.log"):format(folder.path, name)), "")
  end
  -- The lines that the page shows have the fields of true ones.
  local shown, written = decoded(folder.path .. "/log.jsonl"), decoded(run .. "/log.jsonl")
  for _, pair in ipairs{{shown[1], written[1]}, {shown[2], written[#written]}} do
    lu.assertEquals(tables.sorted_keys(pair[1]), tables.sorted_keys(pair[2]))
  end
end

--- A line counts when all of it is there; what was cut from the log, by a run that goes on from its
-- checkpoint, comes anew.
function tests.test_a_log_that_grows_and_is_cut()
  needs_python()
  local folder <close> = shell.folder()
  for _, block in ipairs(page_blocks(files.read(page))) do
    if block.file == "follow.py" then files.write(folder.path .. "/follow.py", block.text) end
  end
  run_there(folder.path, [[
    line() { printf '{"batch":%s,"loss":%s}\n' "$1" "$2"; }
    reach() { until [ "$(wc -l <out)" = "$1" ]; do sleep 0.1; done; }
    { line 1 0.5; printf '{"batch":2,'; } >log.jsonl
    : >out
    python3 -c 'import follow
for batch, found in follow.follow("."): print(batch, found, flush=True)' >out &
    reach 1
    printf '"loss":null}\n{"batch":2,"epoch":1,"validation":{"f1":1}}\n' >>log.jsonl
    reach 3
    { line 1 0.5; line 2 0.25; line 3 0.125; line 4 0.0625; } >new
    mv new log.jsonl
    reach 6
    echo '{"batches": 2}' >summary.json
    wait]])
  lu.assertEquals(files.lines(folder.path .. "/out"), {"1 {'loss': 0.5}", "2 {}",
    "2 {'epoch': 1, 'validation/f1': 1}", "2 {'loss': 0.25}", "3 {'loss': 0.125}",
    "4 {'loss': 0.0625}", "2 {}"})
end

return tests
