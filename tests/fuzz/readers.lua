--- Reads a folder of files by every reader that takes such files, for fuzz_data.c.

local core = require "ladies_core"
local ladies = require "ladies"
local promises = require "fuzz.promises"

local data = ladies.data

-- The readers: the file or folder that tells that one is meant, and how it is called. Whatever
-- ladies.data.load makes of a folder needs no line of its own. A new reader is one line here, and a
-- set of its files in make_corpus.py.
local READERS = {
  {".", function(folder) return data.load(folder) end},
  {"data.npz", function(folder) return data.load(folder .. "/data.npz") end},
  {"data.safetensors", function(folder) return data.load(folder .. "/data.safetensors") end},
  {"graph.json", function(folder)
    return data.load(folder .. "/graph.json", {make_features = "identity"})
  end},
  {"ind.toy.graph", function(folder) return data.load(folder .. "/ind.toy") end},
  {"edges.csv", function(folder)
    return data.from_files{edges = folder .. "/edges.csv", features = folder .. "/features.csv",
      labels = folder .. "/labels.csv", split = folder .. "/split.csv"}
  end},
  {"edges.tsv", function(folder)
    return data.from_files{edges = folder .. "/edges.tsv", features = folder .. "/features.tsv",
      labels = folder .. "/labels.tsv", train = folder .. "/train.txt", ids = "strings",
      classes = "strings", weighted = true, directed = "keep"}
  end},
  {"edges.mtx", function(folder)
    return data.from_files{edges = folder .. "/edges.mtx", features = folder .. "/features.mtx",
      labels = folder .. "/labels.csv", ids = "numbers from 1"}
  end},
  {"edges.mtx.gz", function(folder)
    return data.from_files{edges = folder .. "/edges.mtx.gz", features = folder .. "/features.npy",
      labels = folder .. "/labels.csv", directed = "keep"}
  end},
  {"cells.csv", function(folder)
    return data.from_files{edges = folder .. "/edges.csv", labels = folder .. "/cells.csv",
      classes = "columns", node_names = folder .. "/node_names.txt", make_features = "identity",
      weighted = true}
  end},
  {"cells.tsv", function(folder)
    return data.from_files{edges = folder .. "/edges.tsv", features = folder .. "/features.tsv",
      labels = folder .. "/cells.tsv", ids = "strings", classes = "columns", header = true}
  end},
  {"cells.mtx", function(folder)
    return data.from_files{edges = folder .. "/edges.npz", features = folder .. "/features.npz",
      labels = folder .. "/cells.mtx", classes = "columns"}
  end},
  {"raw/edge.csv", function(folder)
    return data.load(folder, {directed = "keep", split = "a", make_features = "degree"})
  end},
}

return function(folder)
  for _, reader in ipairs(READERS) do
    local name, read = table.unpack(reader)
    if core.exists(folder .. "/" .. name) then
      local ok, result = pcall(read, folder)
      if ok then promises.check_dataset(result) else promises.check_message(name, result) end
    end
  end
end
