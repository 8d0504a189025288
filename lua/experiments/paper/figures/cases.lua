--- Defines the cases that figures show. A case is a method with its settings, trained with several
-- seeds on the data set of its panel.
--
--   method, samples     as ladies.experiment.methods has them
--   layers              where they are not the protocol's
--   whole               true: trained for a number of batches that is the same for all, with a
--                       trace; otherwise by the protocol, with early stopping
--   title               how keys and figures call it, "LADIES (64)"
--   records             of its runs (see ladies.study.one_run)
--
-- A figure gives the first four; the rest is filled in here and by ladies.study.repeated.

local experiment = require "ladies.experiment"
local methods = require "ladies.experiment.methods"
local protocol = require "experiments.paper.protocol"
local run_folder = require "ladies.training.record.run_folder"
local tables = require "ladies.base.tables"

local cases = {}

-- The settings of whole runs: 300 epochs of PubMed, whose 60 training nodes are one batch. An exact
-- validation takes longer there than most batches, so there is one every fifth.
local WHOLE = {max_batches = 300, patience = 0, eval_every = 5}

--- Whole runs in words.
cases.WHOLE = ("after every %dth of %d batches, without early stopping"):format(
  WHOLE.eval_every, WHOLE.max_batches)

--- Cases of one method with each of the numbers of samples; `more` are fields of all of them.
function cases.with_samples(method, numbers, more)
  return tables.map(numbers, function(samples)
    return tables.merged({method = method, samples = samples}, more)
  end)
end

--- Makes a variant of a case (see ladies.study.repeated), with a title. name: the data set, by name
-- or path; common: the user's settings that its method takes, which win over the protocol's but not
-- over the case's own. Equal keys mean equal settings, so two figures can share a run.
function cases.configure(case, name, preset, common)
  case.settings = tables.merged(protocol.settings(name), case.whole and WHOLE or nil, common,
    {dataset = name, preset = preset, method = case.method, samples = case.samples,
      layers = case.layers})
  local config = experiment.configure(case.settings)
  case.title, case.trace = methods.title(config), case.whole
  case.key = ("%s, %s, %d layers, %s"):format(run_folder.plain(name), case.title, config.layers,
    case.whole and "whole" or "early stopping")
end

return cases
