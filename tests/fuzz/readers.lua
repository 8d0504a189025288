--- What fuzz_data.c does with a folder of files: every reader that the files are for reads them.

local core = require "ladies_core"
local ladies = require "ladies"

local data = ladies.data

-- The readers: the file or folder that tells that one is meant, and how it is called. Whatever
-- ladies.data.load makes of a folder needs no line of its own. A new reader is one line here, and a
-- set of its files in make_corpus.py.
local READERS = {
  {".", function(folder) return data.load(folder) end},
  {"data.npz", function(folder) return data.load(folder .. "/data.npz") end},
  {"ind.toy.graph", function(folder) return data.load(folder .. "/ind.toy") end},
  {"edges.csv", function(folder)
    return data.from_files{edges = folder .. "/edges.csv", features = folder .. "/features.csv",
      labels = folder .. "/labels.csv", split = folder .. "/split.csv"}
  end},
  {"edges.tsv", function(folder)
    return data.from_files{edges = folder .. "/edges.tsv", features = folder .. "/features.tsv",
      labels = folder .. "/labels.tsv", train = folder .. "/train.txt", ids = "strings",
      classes = "strings", weighted = true, directed = true}
  end},
  {"edges.mtx", function(folder)
    return data.from_files{edges = folder .. "/edges.mtx", features = folder .. "/features.mtx",
      labels = folder .. "/labels.csv", ids = "numbers from 1"}
  end},
  {"edges.mtx.gz", function(folder)
    return data.from_files{edges = folder .. "/edges.mtx.gz", features = folder .. "/features.npy",
      labels = folder .. "/labels.csv", directed = true}
  end},
}

-- How errors begin that Lua raises itself, which nobody wrote for a user: a reader has not looked.
local INTERNAL = {"attempt to ", "bad argument", "stack overflow", "not enough memory",
  "out of memory", "table overflow", "number has no integer", "'for' "}

-- The message of a refusal is one clear line.
local function check_message(name, message)
  local function fail(what) error(("%s: %s: %s"):format(name, what, tostring(message))) end
  if type(message) ~= "string" then fail "an error that is no text" end
  local text = message:gsub("^[^:]*:%d+: ", "")
  for _, beginning in ipairs(INTERNAL) do
    if text:sub(1, #beginning) == beginning then fail "an internal error" end
  end
  if message:find "%c" then fail "not one line" end
  if #message > 1000 then fail "a long message" end
end

-- What every data set promises, whatever it was read from.
local function check_dataset(set)
  local n = set.graph.n_nodes
  assert(n > 0 and set.features.n_rows == n and #set.labels == n, "parts of different lengths")
  assert(set.labels:min() >= 0 and set.labels:max() <= set.classes, "labels out of range")
  for _, part in ipairs{"train", "val", "test"} do
    local ids = set[part]
    assert(not ids or #ids == 0 or ids:min() >= 1 and ids:max() <= n, "a split out of range")
  end
  assert(type(set:describe()) == "string" and type(set:facts()) == "table")
end

return function(folder)
  for _, reader in ipairs(READERS) do
    local name, read = table.unpack(reader)
    if core.exists(folder .. "/" .. name) then
      local ok, result = pcall(read, folder)
      if ok then check_dataset(result) else check_message(name, result) end
    end
  end
end
