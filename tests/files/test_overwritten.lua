--- Files that are overwritten while arrays mapped from them are in use: a computation with these
-- ends in an error of one line that names the file, and keeps no result made from both contents.
local lu = require "luaunit"
local ladies = require "ladies"
local core = require "ladies_core"
local files = require "tools.files"
local shell = require "tools.shell"
local temporary = require "reference.temporary"

local tests = {}

local NODES = 140000                       -- offsets and columns are more than a MiB each
local SAID = "was overwritten"

local folder = shell.folder_of_each(tests)

-- The file of a data set of that seed, made once, as it is (not deflated).
local function made(kind, seed)
  local path = temporary.path(("made%d.%s"):format(seed, kind))
  if not core.exists(path) then
    local data = ladies.generate.power_law{nodes = NODES, entries = 600000, features = 8,
      classes = 4, train = 0.01, val = 0.001, seed = seed}
    ladies.data.save(data, path, kind == "npz" and {compress = false} or nil)
  end
  return path
end

-- A copy of it by that name in the folder.
local function save(name, seed)
  local path = folder.path .. "/" .. name
  return files.write(path, files.read(made(name:match "%w+$", seed)))
end

-- The code of a run over the data set at `path` that does `change` after its first validation.
local function run_code(path, change)
  return ([[
    local core = require "ladies_core"
    local path, changed = %q, false
    local data = ladies.data.load(path)
    local function change() %s end
    local P = data.graph:normalize "sym"
    ladies.train{data = data, sampler = ladies.samplers.ladies(P, {samples = {64, 64}}),
      model = ladies.nn.gcn{inputs = 8, hidden = 8, outputs = 4, layers = 2, seed = 1},
      epochs = 4, batch_size = 64, eval_every = 10, patience = 0, checkpoint_every = 0,
      out = %q, quiet = true, on_validation = function()
        if not changed then change() end
        changed = true
      end}
    print "trained"]]):format(path, change, folder.path .. "/run")
end

local function assert_told(path, out, err, status)
  lu.assertEquals({out, status}, {"", 1}, err)
  local line = err:match "[^\n]*"           -- a script's has its traceback below
  lu.assertStrContains(line, path)
  lu.assertStrContains(line, SAID)
end

-- The bytes of `other` written over those of `path`, in place; both are files of the folder.
local OVER = "os.execute(('dd if=%s of=%%s conv=notrunc status=none'):format(path))"

function tests.test_a_run()
  for _, name in ipairs{"data.npz", "data.safetensors"} do
    local path, other = save(name, 1), save("other-" .. name, 2)
    assert_told(path, shell.run_ladies{"-e", run_code(path, OVER:format(other))})
    -- The checkpoint is that of before, and there is no model.
    local checkpoint <close> = ladies.npz.open(folder.path .. "/run/checkpoint.npz")
    lu.assertEquals(checkpoint:numbers "counter.number", 10)
    lu.assertFalse(core.exists(folder.path .. "/run/model.npz"))
    os.execute("rm -rf " .. folder.path .. "/run")
  end
end

--- `touch` is not to be told from a write. A new file in the place of the old one changes nothing
-- for who uses that, nor do other rights and another name.
function tests.test_what_counts()
  local path, other = save("data.safetensors", 1), save("other.safetensors", 2)
  assert_told(path, shell.run_ladies{"-e", run_code(path, "os.execute('touch ' .. path)")})
  os.execute("rm -rf " .. folder.path .. "/run")
  local code = run_code(path, ("os.execute('chmod 600 ' .. path); os.rename(path, path .. 1); "
    .. "os.rename(%q, path)"):format(other))
  lu.assertEquals({shell.run_ladies{"-e", code}}, {"trained\n", "", 0})
end

--- A command whose data are overwritten by `cp` while it trains, which the log tells.
function tests.test_train_by_command()
  local path, other = save("data.npz", 1), save("other.npz", 2)
  local run = folder.path .. "/run"
  local script = ([[
    "$1" train --dataset "$2" --out "$3" --epochs 1000 --patience 0 --batch-size 64 \
      --eval-every 10 --samples 64 --quiet >/dev/null & train=$!
    until grep -qs micro-F1 "$3/log.jsonl" || ! kill -0 $train; do sleep 0.02; done
    dd if="$4" of="$2" conv=notrunc status=none
    wait $train]])
  assert_told(path, shell.run{"sh", "-c", script, "sh", shell.ladies, path, run, other})
  lu.assertFalse(core.exists(run .. "/model.npz"))
end

--- A model of a user's own, in whose layers the file is overwritten.
local MODEL = [[
  return function()
    local model = require("ladies").nn.gcn{inputs = 8, hidden = 8, outputs = 4, layers = 2}
    local layer = model.layer
    function model.layer(...)
      os.execute("dd if=%s of=%s conv=notrunc status=none")
      return layer(...)
    end
    return model
  end]]

--- Evaluation and prediction print and write nothing where the data set was overwritten meanwhile.
function tests.test_evaluate_and_predict()
  local path, other = save("data.npz", 1), save("other.npz", 2)
  lu.assertEquals({shell.run_ladies{"-e", run_code(path, "")}}, {"trained\n", "", 0})
  local run, out = folder.path .. "/run", folder.path .. "/predicted.csv"
  local copy = files.read(path)
  local model = files.write(folder.path .. "/mine.lua", MODEL:format(other, path))
  local function assert_refused(...)
    assert_told(path, shell.run_ladies{...})
    lu.assertFalse(core.exists(out))
    files.write(path, copy)
  end
  assert_refused("evaluate", run, "--model", model, "--split", "val")
  assert_refused("predict", run, "--model", model, "--out", out)
end

function tests.test_inference()
  local path, other = save("data.npz", 1), save("other.npz", 2)
  local code = ([[
    local path = %q
    local data = ladies.data.load(path)
    local model = ladies.nn.gcn{inputs = 8, hidden = 8, outputs = 4, layers = 2, seed = 1}
    local forward = model.layer
    function model.layer(...)
      %s
      return forward(...)
    end
    print(ladies.inference.exact(model, data))]]):format(path, OVER:format(other))
  assert_told(path, shell.run_ladies{"-e", code})
end

--- Columns that are out of range lead out of memory, whichever thread reads them.
function tests.test_columns_out_of_range()
  local path = save("data.safetensors", 1)
  local file = ladies.safetensors.open(path)
  local n, list = file:shape "adj_indices"[1], file:numbers "adj_indices"
  file:close()
  local at = files.read(path):find(("<i4i4i4i4i4i4"):pack(table.unpack(list, 1, 6)), 1, true)
  for _, use in ipairs{"ladies.samplers.full(P, {layers = 2})(data.train, ladies.rng(1))",
      "ladies.inference.exact(model, data, {P = P})"} do
    local code = ([[
      ladies.threads(2)
      local data = ladies.data.load(%q)
      local model = ladies.nn.gcn{inputs = 8, hidden = 8, outputs = 4, layers = 2}
      local P = data.graph:normalize("row", {self_loops = false})      -- over the file
      local file = io.open(%q, "r+b")
      file:seek("set", %d)
      file:write(("\xff\xff\xff\x7f"):rep(%d))
      file:close()
      print(%s)]]):format(path, path, at - 1, n, use)
    lu.assertEquals({shell.run_ladies{"-e", code}},
      {"", ("ladies: a file was overwritten while it was in use (safetensors: %s)\n"):format(path),
        1})
    save("data.safetensors", 1)
  end
end

--- A loop of one's own is told at its next mini-batch, also at its end; or asks.
function tests.test_own_loops()
  local path, other = save("data.npz", 1), save("other.npz", 2)
  local code = ([[
    local path = %q
    local data = ladies.data.load(path)
    local seen = 0
    local ok, message = pcall(function()
      for batch in ladies.batches(data.train, {batch_size = #data.train, epochs = 1}) do
        seen = seen + 1
        %s
      end
    end)
    print(ok, message:match "was overwritten", seen)
    print(pcall(ladies.data.check_files))
    print(ladies.file.changed())
    data = ladies.data.load(path)                   -- the old one is garbage
    print(pcall(ladies.data.check_files))]]):format(path, OVER:format(other))
  local out = shell.silent(shell.run_ladies{"-e", code})
  lu.assertStrMatches(out, "false\twas overwritten\t1\nfalse\t[^\n]*was overwritten[^\n]*\nnpz: "
    .. path:gsub("%p", "%%%0") .. "\ntrue\n")
end

return tests
