--- The files of a run's folder, damaged in every way that a list of ways and a list of fields give:
-- each command that reads them goes on, or ends with one line that was written for a user; what
-- resumes trains nothing before it has looked at all of them.
local lu = require "luaunit"
local core = require "ladies_core"
local host = require "ladies_host"
local json = require "ladies.base.json"
local ladies = require "ladies"
local files = require "tools.files"
local shell = require "tools.shell"
local tables = require "ladies.base.tables"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}

-- ---------------------------------------------------------------- commands in this process

-- Runs a command with words; returns its status and what it complains of.
local function command(name, ...)
  local own = {exit = os.exit, complain = host.complain, print = print, arg = arg}
  local told, status = {}, 0
  rawset(_G, "arg", {[0] = name, ...})
  rawset(_G, "print", function() end)
  rawset(os, "exit", function(code) error({status = code}, 0) end)      -- luacheck: ignore
  host.complain = function(text) told[#told + 1] = text end
  local ok, e = pcall(dofile, host.script(name))
  rawset(os, "exit", own.exit)
  host.complain = own.complain
  rawset(_G, "arg", own.arg)
  rawset(_G, "print", own.print)
  if not ok then status = type(e) == "table" and e.status or error(e, 0) end
  return status, table.concat(told, "\n")
end

-- Makes the run that every test damages a copy of, and returns its folder.
local function new_run(name)
  local folder = temporary.path(name)
  lu.assertEquals({command("train", "--dataset", toy_study.dataset, "--layers=2", "--hidden=8",
    "--batch-size=20", "--max-batches=8", "--eval-every=4", "--patience=0", "--quiet", "--out",
    folder)}, {0, ""})
  return folder
end

local function copy(folder)
  local other = folder .. "-damaged"
  os.execute(("rm -rf '%s' && cp -r '%s' '%s'"):format(other, folder, other))
  return other
end

local COMMANDS = {
  train = function(folder)
    return command("train", "--resume", folder, "--max-batches", "12", "--quiet")
  end,
  evaluate = function(folder) return command("evaluate", folder) end,
  predict = function(folder)
    return command("predict", folder, "--out", temporary.path "predicted.csv")
  end,
  view = function(folder) return command("view", folder, "--out", temporary.path "view.html") end,
  export = function(folder)
    return command("export", folder, "--out", temporary.path "exported.safetensors")
  end,
}

-- Training comes last: the others leave the folder as it is.
local IN_ORDER = {"evaluate", "predict", "view", "export", "train"}

-- A complaint that was written for a user.
local function check_complaint(text, what)
  lu.assertStrMatches(text, "[^\n%c]+", nil, nil, what .. ": " .. text)
  for _, sign in ipairs{"attempt to", "bad argument", "assertion", "traceback", "%.lua:%d"} do
    lu.assertNil(text:find(sign), what .. ": " .. text)
  end
end

local KEPT = {"checkpoint.npz", "log.jsonl", "model.npz", "config.json"}

local function content(folder)
  local all = {}
  for _, name in ipairs(KEPT) do
    local path = folder .. "/" .. name
    all[name] = core.exists(path) == "file" and files.read(path) or core.exists(path)
  end
  return all
end

-- Runs a command over a damaged folder; returns whether it went on.
local function try(name, folder, what)
  what = ("%s, %s"):format(name, what)
  local before = name == "train" and content(folder)
  local status, text = COMMANDS[name](folder)
  if status == 0 then return true end
  lu.assertEquals(status, 1, what)
  check_complaint(text, what)
  for kept, bytes in pairs(before or {}) do
    lu.assertTrue(content(folder)[kept] == bytes, what .. ": " .. kept)
  end
  return false
end

-- ---------------------------------------------------------------- whole files

local FILES = {"ladies.json", "config.json", "log.jsonl", "checkpoint.npz", "model.npz",
  "predictions.npz", "curve.tsv", "curve.svg", "summary.json"}

-- Damages to a file: to its bytes, or to what is at its path.
local DAMAGES = {
  missing = function(path) os.remove(path) end,
  empty = function(path) files.write(path, "") end,
  half = function(path)
    local bytes = files.read(path)
    files.write(path, bytes:sub(1, #bytes // 2))
  end,
  zeros = function(path) files.write(path, ("\0"):rep(100)) end,
  null = function(path) files.write(path, "null\n") end,
  number = function(path) files.write(path, "5\n") end,
  list = function(path) files.write(path, "[1, 2]\n") end,
  object = function(path) files.write(path, "{}\n") end,
  fifo = function(path) os.execute(("rm '%s'; mkfifo '%s'"):format(path, path)) end,
  folder = function(path) os.execute(("rm '%s'; mkdir '%s'"):format(path, path)) end,
  loop = function(path) os.execute(("ln -sf loop '%s'; mv '%s' '%s/../loop'; ln -sf ../loop '%s'")
    :format(path, path, path:match "^(.*)/", path)) end,
  dangling = function(path) os.execute(("ln -sf /nonexistent/x '%s'"):format(path)) end,
}

-- Damages of which a command knows nothing, since it has another look at, or none, at the file.
local ODD = {fifo = true, folder = true, loop = true, dangling = true}

function tests.test_whole_files()
  local run = new_run "whole"
  for _, file in ipairs(FILES) do
    for damage, act in pairs(DAMAGES) do
      local folder, what = copy(run), ("%s: %s"):format(file, damage)
      act(("%s/%s"):format(folder, file))
      for _, name in ipairs(IN_ORDER) do
        local went_on = try(name, folder, what)
        if name == "train" and ODD[damage] then lu.assertFalse(went_on, what) end
        if name ~= "train" and file == "model.npz" then lu.assertFalse(went_on, what) end
      end
    end
  end
end

-- ---------------------------------------------------------------- fields

-- Values that a field is changed to; nil for none.
local VALUES = {-1, 1e300, "\27[2J", true, {1, "x"}, "@nan@"}

local function encoded(value)
  return (json.encode(value):gsub('"@nan@"', "NaN"):gsub('"@inf@"', "1e999")
    :gsub('"@null@"', "null"))
end

-- One in so many of the damages to fields is done, always the same ones in a run of the tests,
-- because all of them together take minutes.
local EVERY, turn = math.tointeger(tonumber(os.getenv "LADIES_EVERY" or 7)), 0

local function is_turn()
  turn = turn + 1
  return turn % EVERY == 0
end

-- Calls f(text, what, name of the field) for the JSON of a table with each of its fields as each of
-- those values and without it.
local function each_field(object, f)
  for _, name in ipairs(tables.sorted_keys(object)) do
    local own = object[name]
    for i = 0, #VALUES do
      object[name] = VALUES[i]
      if VALUES[i] ~= own and is_turn() then
        f(encoded(object), ("%s = %s"):format(name, encoded{VALUES[i]}), name)
      end
    end
    object[name] = own
  end
end

local MAY_CHANGE = {epochs = true, max_batches = true, max_seconds = true, patience = true,
  model_file = true, method_file = true}

function tests.test_settings()
  local run = new_run "settings"
  local own = json.decode(files.read(run .. "/config.json"))
  local same = json.encode(own)
  each_field(own, function(text, what, name)
    local folder = copy(run)
    files.write(folder .. "/config.json", text)
    for _, one in ipairs{"train", "evaluate"} do
      local went_on = try(one, folder, what)
      if went_on and one == "train" and not MAY_CHANGE[name] then
        lu.assertEquals(json.encode(json.decode(files.read(folder .. "/config.json"))):gsub(
          '"max_batches":%d+', ""), same:gsub('"max_batches":%d+', ""), what)
      end
    end
  end)
end

function tests.test_summary()
  local run = new_run "summary"
  each_field(json.decode(files.read(run .. "/summary.json")), function(text, what)
    files.write(run .. "/summary.json", text)
    try("view", run, what)
  end)
end

--- Commands survive damage to every line of a log in turn, and to every field of a batch's line and
-- a validation's.
function tests.test_log()
  local run = new_run "log"
  local lines = files.lines(run .. "/log.jsonl")
  local function check(text, what)
    local folder = copy(run)
    files.write(folder .. "/log.jsonl", text)
    try("view", folder, what)
    lu.assertFalse(try("train", folder, what), what)
  end
  for i, line in ipairs(lines) do
    for what, damaged in pairs{
      cut = line:sub(1, #line // 2), digit = line:gsub("%d", "7", 1), word = "x",
      ["other loss"] = line:gsub('("loss":%d)', "%19"), ["other value"] = line:gsub("0%.", "9."),
    } do
      if damaged ~= line then
        lines[i] = damaged
        check(table.concat(lines, "\n") .. "\n", ("line %d, %s"):format(i, what))
      end
    end
    lines[i] = line
  end
  for i, line in ipairs(lines) do
    if i == 1 or line:find "validation" then
      each_field(json.decode(line), function(text, what)
        local folder = copy(run)
        lines[i] = text
        files.write(folder .. "/log.jsonl", table.concat(lines, "\n") .. "\n")
        try("view", folder, what)
      end)
      lines[i] = line
    end
  end
end

-- ---------------------------------------------------------------- arrays

-- The arrays of a file as npz.write takes them.
local function arrays_of(path)
  local found, file <close> = {}, ladies.npz.open(path)
  local read = {float32 = "tensor", uint8 = "text", int32 = "index"}
  for _, name in ipairs(file:names()) do
    local dtype = file:dtype(name)
    found[name] = file[read[dtype] or dtype:find "U" and "strings" or "numbers"](file, name)
  end
  return found
end

local ARRAYS = {-1, 0.5, 0 / 0, "x", {1, 2, 3}, ladies.ones(3)}

-- Calls f(what) with the file at `path` written anew with each array dropped, replaced, and a new
-- one, the texts in it with other fields, after finish(arrays). weights_may: weights, of which any
-- are possible, stay as they are.
local WEIGHTS = {parameter = true, best = true, optimizer = true, buffer = true}
local function each_array(path, finish, f, weights_may)
  local arrays = arrays_of(path)
  local names = {}
  for name in pairs(arrays) do names[#names + 1] = name end
  table.sort(names)
  local function try_with(name, value, what)
    local own = arrays[name]
    arrays[name] = value
    finish(arrays)
    ladies.npz.write(path, arrays)
    f(("%s: %s"):format(name, what))
    arrays[name] = own
  end
  for _, name in ipairs(names) do
    if name ~= "hash" and not (weights_may and WEIGHTS[name:match "^%l+"]) then
      for i = 0, #ARRAYS do
        if is_turn() then try_with(name, ARRAYS[i], tostring(ARRAYS[i])) end
      end
      local is_text, object = pcall(json.decode, type(arrays[name]) == "string" and arrays[name])
      if is_text and type(object) == "table" then
        each_field(object, function(text, what) try_with(name, text, what) end)
      end
      for key, inner in pairs(is_text and type(object) == "table" and object or {}) do
        if type(inner) == "table" and type(key) == "string" then
          each_field(inner, function(text, what)
            local whole = object
            whole[key] = "@inner@"
            try_with(name, (encoded(whole):gsub('"@inner@"', (text:gsub("%%", "%%%%")))),
              key .. "." .. what)
            whole[key] = inner
          end)
        end
      end
    end
  end
  try_with("surplus", 1, "added")
end

-- The hash of a checkpoint's arrays, made to fit by somebody who knows how.
local function hash_of(arrays)
  local names, parts = {}, {}
  for name in pairs(arrays) do
    if name ~= "hash" then names[#names + 1] = name end
  end
  table.sort(names)
  local function exactly(x)
    if type(x) ~= "table" then return x == x and ("%a"):format(x) or "nan" end
    local list = {}
    for i, one in ipairs(x) do list[i] = exactly(one) end
    return table.concat(list, " ")
  end
  for i, name in ipairs(names) do
    local value = arrays[name]
    local kind = type(value) == "userdata" and tostring(value):match "^%a+" or type(value)
    parts[i] = ("%s %s %s\n"):format(name, kind, type(value) == "userdata" and value:hash()
      or kind == "string" and core.hash(value) or exactly(value))
  end
  return core.hash(table.concat(parts))
end

--- Every edit of a checkpoint's arrays is found.
function tests.test_edited_checkpoints()
  local run = new_run "edited"
  local folder = copy(run)
  each_array(folder .. "/checkpoint.npz", function() end, function(what)
    lu.assertFalse(try("train", folder, what), what)
    try("evaluate", folder, what)
  end)
end

--- A checkpoint whose hash was made to fit does no harm either.
function tests.test_forged_checkpoints()
  local run = new_run "forged"
  local folder = copy(run)
  local arrays = arrays_of(folder .. "/checkpoint.npz")
  lu.assertEquals(hash_of(arrays), arrays.hash)
  each_array(folder .. "/checkpoint.npz", function(forged) forged.hash = hash_of(forged) end,
    function(what)
      if try("train", folder, what) then
        os.execute(("rm -rf '%s'; cp -r '%s' '%s'"):format(folder, run, folder))
      end
      try("evaluate", folder, what)
    end, true)
end

function tests.test_models()
  local run = new_run "models"
  each_array(run .. "/model.npz", function() end, function(what) try("evaluate", run, what) end)
end

--- The split of a script's run comes from its predictions.
function tests.test_predictions_of_a_script()
  local folder = temporary.path "of_script"
  local data = ladies.data.load(toy_study.dataset)
  data.train, data.val = data.val, data.train
  ladies.train{data = data, max_batches = 2, quiet = true, out = folder,
    sampler = ladies.samplers.full(data.graph:normalize "sym", {layers = 2}),
    model = ladies.nn.gcn{inputs = data.features.n_cols, outputs = data.classes, layers = 2}}
  lu.assertTrue(try("evaluate", folder, "whole"))
  for _, what in ipairs{"predictions.npz", "checkpoint.npz"} do
    each_array(("%s/%s"):format(folder, what), function() end, function(change)
      try("evaluate", folder, change)
    end)
  end
end

--- Some editors begin a file with a mark.
function tests.test_mark_of_an_editor()
  local run = new_run "mark"
  local path = run .. "/config.json"
  files.write(path, "\xEF\xBB\xBF" .. files.read(path))
  lu.assertTrue(try("evaluate", run, "mark"))
  lu.assertTrue(try("train", run, "mark"))
end

-- A command itself, as long as a fifo may keep it.
function tests.test_fifos_are_not_waited_for()
  local run = new_run "fifo"
  for _, file in ipairs{"log.jsonl", "checkpoint.npz", "config.json"} do
    local folder = copy(run)
    os.remove(("%s/%s"):format(folder, file))
    os.execute(("mkfifo '%s/%s'"):format(folder, file))
    local _, err, status = shell.run{"timeout", "20", shell.ladies, "train", "--resume", folder}
    lu.assertEquals(status, 1, file)
    lu.assertStrMatches(err, "ladies train: [^\n]*\n", nil, nil, file)
  end
end

return tests
