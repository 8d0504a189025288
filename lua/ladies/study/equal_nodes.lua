--- Numbers of samples with which methods have batches of equally many nodes.

local batches = require "ladies.training.batches"
local experiment = require "ladies.experiment"
local nearest_samples = require "ladies.study.nearest_samples"

local PROBES = 8   -- batches from which the nodes of a batch are estimated

-- The mean number of rows of a batch, of the input and of all layers.
local function rows_of(config, data, samples)
  -- What is drawn depends neither on the width, as the tables of histories do, nor on GraphSAINT's
  -- counts, for which one subgraph is enough then.
  local narrow = setmetatable({hidden = 1, coverage = config.coverage and 1e-6},
    {__index = config})
  local sampler = experiment.sampler(narrow, data, experiment.model(narrow, data), samples)
  local n, count = 0, 0
  for batch in batches.new(data.train, {size = experiment.batch_size(config, data),
    sampler = sampler, seed = config.seed, epochs = PROBES}) do
    batch.penalty, batch.after_step = nil, nil              -- there is no step
    n, count = n + #batch.input, count + 1
    for _, block in ipairs(batch.blocks) do n = n + #block.dst end
    if count == PROBES then break end
  end
  return n / count
end

--- equal_nodes(list, data): gives every method of the list, {settings =, config =}, that samples
-- the number of samples with which its batches are as large as those of the first, which may be a
-- finished run, {run =, records =}. Others of the list stay as they are.
return function(list, data)
  local first = list[1]
  local record = first.run and first.records[1]
  local rows = record and record.input_rows + record.hidden_rows
    or rows_of(first.config, data, first.config.samples)
  for i = 2, #list do
    local one = list[i]
    if one.config and one.config.samples then
      one.settings.samples = nearest_samples.find(rows, nearest_samples.most(one.config, data),
        function(samples) return rows_of(one.config, data, samples) end)
      one.config = experiment.configure(one.settings)
    end
  end
end
