--- How a data set is read, as options of a command line (see ladies.command.cli): those of
-- ladies.data.load.

local data_options = {}

data_options.list = {
  {"directed", "HOW", "keep|symmetrize",
    help = "keep: edges as they are listed (default symmetrize: both ways)"},
  {"make-features", "KIND", "identity|degree|random", help = "features for a graph without any"},
  {"split", "HOW", "string",
    help = "10/10/80 per cent for training, validation and test; stratified:10/10/80; "
      .. "20-per-class[:500/1000]; TRAIN,VAL,TEST, files with a node a line; or which of the "
      .. "splits that the data set has"},
  {"split-seed", "N", "non-negative integer", help = "of a random split (default 1)"},
  {"max-ids", "N", "positive integer", help = "the most nodes, columns or classes that a file may "
    .. "ask for by a number alone"},
}

--- The options for ladies.data.load, of those that cli.main hands over.
function data_options.load(opts)
  local load = {}
  for _, option in ipairs(data_options.list) do
    local key = option[1]:gsub("-", "_")
    load[key] = opts[key]
  end
  return load
end

return data_options
