--- What figures are drawn of: a case is a method with its settings, trained with several seeds on
-- the data set of its panel.
--
--   method, samples     as ladies.experiment.methods has them
--   layers              where they are not the protocol's
--   whole               true: trained for a number of batches that is the same for all, with a
--                       trace; otherwise by the protocol, with early stopping
--   title               how keys and figures call it, "LADIES (64)"
--   keys, records       of its runs, and their records, of ladies.study.one_run, seed by seed
--
-- A figure gives the first four; the rest is filled in here and by ladies_paper.figures.

local experiment = require "ladies.experiment"
local methods = require "ladies.experiment.methods"
local protocol = require "ladies_paper.protocol"

local cases = {}

-- Of whole runs: 300 epochs of PubMed, whose 60 training nodes are one batch. An exact validation
-- takes longer there than most batches, so there is one every fifth.
local WHOLE = {max_batches = 300, patience = 0, eval_every = 5}

--- What whole runs are, in words.
cases.WHOLE = ("after every %dth of %d batches, without early stopping"):format(
  WHOLE.eval_every, WHOLE.max_batches)

--- Cases of one method with each of the numbers of samples; `more` are fields of all of them.
function cases.with_samples(method, numbers, more)
  local list = {}
  for i, samples in ipairs(numbers) do
    list[i] = {method = method, samples = samples}
    for key, value in pairs(more or {}) do list[i][key] = value end
  end
  return list
end

--- Gives a case its title and its settings of ladies.experiment, but for the seed. name: the data
-- set; common: the user's settings that its method takes, over all but what the case is.
function cases.configure(case, name, preset, common)
  local settings = protocol.settings(name)
  for _, more in ipairs{case.whole and WHOLE or {}, common, {dataset = name, preset = preset,
    method = case.method, samples = case.samples, layers = case.layers}} do
    for key, value in pairs(more) do settings[key] = value end
  end
  case.settings, case.title = settings, select(2, methods.of(experiment.configure(settings)))
end

--- The run of a configured case with this seed: {key =, config =, trace =}. Equal keys are equal
-- settings, so a run that two figures need is one.
function cases.run(case, dataset, seed)
  local config = {seed = seed}
  for key, value in pairs(case.settings) do config[key] = value end
  config = experiment.configure(config)
  return {config = config, trace = case.whole, key = ("%s, %s, %d layers, %s, seed %d"):format(
    dataset, case.title, config.layers, case.whole and "whole" or "early stopping", seed)}
end

return cases
