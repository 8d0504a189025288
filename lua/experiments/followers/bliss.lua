--- The table of BLISS ("BLISS: Bandit Layer Importance Sampling Strategy for Efficient Training of
-- Graph Neural Networks", 2025, arXiv 2512.22388) on the citation graphs, tried again: LADIES,
-- PLADIES and BLISS with GraphSAGE and GAT.
--
-- The settings are those of the paper and of its program (linhthi/BLISS-GNN): batches of 32 nodes,
-- layers of 512, 256 and 128 nodes, the first nearest the features, 1,000 steps of Adam with 0.002,
-- 256 hidden columns, dropout 0.1, a row-normalised P, nodes drawn by norms and not their squares
-- (--flat), the layer above united into each, and the model of the highest validation F1. But that
-- program multiplies the learning rate by 0.01 after every fifth epoch, and leaves out the last
-- batch of an epoch unless it is whole: after 20 steps on Cora, 15 on Citeseer and 5 on PubMed its
-- networks learn next to nothing. Both are run: all steps, and only these.
--
-- Otherwise than there: our GAT is that of Velickovic et al. with its 4 heads side by side in the
-- 256 columns (theirs is GATv2, 256 columns a head); numbers are float32 (theirs are bfloat16);
-- validation is exact; and BLISS is samplers/bliss.lua, which says where it departs.

local bliss_players = require "experiments.followers.bliss_players"
local carry_out = require "ladies.study.carry_out"
local measured = require "ladies.study.measured"
local methods = require "ladies.experiment.methods"
local protocol = require "experiments.followers.protocol"
local run_folder = require "ladies.training.record.run_folder"
local statements = require "experiments.paper.table3.statements"
local words = require "experiments.followers.words"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"

local WHERE = "experiments.followers.bliss"

-- Test F1 in percent, by data set, model and method, as a public digest of the paper quotes them
-- (the paper itself was not at hand); those of LADIES are not among them.
local PUBLISHED = {
  cora = {sage = {pladies = 77.2, bliss = 79.5}, gat = {pladies = 80.9, bliss = 81.3}},
  citeseer = {sage = {pladies = 60.1, bliss = 58.0}, gat = {pladies = 68.3, bliss = 70.6}},
  pubmed = {sage = {pladies = 55.7, bliss = 59.7}, gat = {pladies = 71.8, bliss = 73.1}},
}

-- The steps of five epochs of whole batches.
local FIVE_EPOCHS = {cora = 20, citeseer = 15, pubmed = 5}
local OTHER = 20

local STEPS = 1000
local ALL, FEW = "all steps", "five epochs"

local METHODS = {"ladies", "pladies", "bliss"}

local COMMON = {
  samples = {512, 256, 128}, layers = 3, batch_size = 32, hidden = 256, lr = 2e-3, dropout = 0.1,
  normalize = "row", self_nodes = "previous", patience = 0, epochs = 1000000,
}

-- The settings that single methods and models have besides.
local OWN = {
  ladies = {flat = true}, pladies = {flat = true}, bliss = {steps = STEPS},
  sage = {}, gat = {heads = 4, attention_dropout = 0.1, residual = true},
}

-- ---------------------------------------------------------------- what is run

local function variant_of(name, model, method, steps, opts)
  local dataset = run_folder.plain(name)
  local n = steps == ALL and opts.steps
    or math.min(opts.steps, FIVE_EPOCHS[dataset] or OTHER)
  local settings = tables.merged(COMMON, OWN[method], OWN[model],
    protocol.pick(opts.settings, method, model), {dataset = name, model = model, method = method,
      max_batches = n, eval_every = math.max(1, n // (steps == ALL and 10 or 5))})
  return {dataset = dataset, model = model, method = method, steps = steps, settings = settings,
    key = ("%s, %s, %s, %s"):format(dataset, model, method, steps)}
end

-- ---------------------------------------------------------------- what came out

local TITLES = {sage = "GraphSAGE", gat = "GAT"}

local function published(one)
  return ((PUBLISHED[one.dataset] or {})[one.model] or {})[one.method]
end

local function variant_at(variants, model, dataset, method, steps)
  for _, one in ipairs(variants) do
    if one.dataset == dataset and one.model == model and one.method == method
      and one.steps == steps then
      return one
    end
  end
end

-- Returns a table with a row for each data set, model and method, with both numbers of steps beside
-- the paper's.
local function f1_table(variants, opts)
  local results = Table.new{"data set", "model", "method", "paper",
    ("%d steps"):format(opts.steps), "", "five epochs", ""}
  for _, all in ipairs(variants) do
    if all.steps == ALL then
      local few = variant_at(variants, all.model, all.dataset, all.method, FEW)
      results:add{all.dataset, TITLES[all.model], methods.by_name[all.method].title,
        Table.number(published(all), "%.1f"), test_f1.cell(all), words.beside(all, published(all)),
        test_f1.cell(few), words.beside(few, published(few))}
    end
  end
  return results
end

-- BLISS less the others, seed by seed, beside the paper's.
local function differences_table(variants, opts)
  local results = Table.new{"data set", "model", "BLISS less", "paper",
    ("%d steps"):format(opts.steps), "", "five epochs", ""}
  for _, all in ipairs(variants) do
    if all.steps == ALL and all.method ~= "bliss" then
      local bliss = variant_at(variants, all.model, all.dataset, "bliss", ALL)
      local few = variant_at(variants, all.model, all.dataset, all.method, FEW)
      local few_bliss = variant_at(variants, all.model, all.dataset, "bliss", FEW)
      local theirs = published(all) and published(bliss) - published(all)
      local function said(a, b)
        local list = test_f1.differences(a, b)
        return theirs and #list > 1 and statements.agrees(list, theirs) or "-"
      end
      results:add{all.dataset, TITLES[all.model], methods.by_name[all.method].title,
        Table.number(theirs, "%+.1f"), test_f1.difference_cell(bliss, all), said(bliss, all),
        test_f1.difference_cell(few_bliss, few), said(few_bliss, few)}
    end
  end
  return results
end

local PLAYERS_NOTE = [[
BLISS begins with the probabilities of PLADIES, those of uniform players, and draws otherwise only
as far as its players learn. After %d steps with GraphSAGE, seed 1, the probabilities of a player
that was paid are off the uniform ones by a total variation (from 0 to 1) of %s on average: at the
rate that the paper derives for so many steps, players stay where they begin. (The paper's program
has a constant rate of 0.01 instead.)]]

-- Tells how far the players of BLISS have moved from uniform probabilities (see bliss_players), on
-- each data set where it was trained for all steps; nil where it was on none. The numbers are kept
-- in the study.
local function players_text(study, variants, opts)
  local items, texts = {}, {}
  for _, one in ipairs(variants) do
    if one.steps == ALL and one.method == "bliss" and one.model == "sage" and one.records[1] then
      items[#items + 1] = {variant = one, key = ("players of %s, %d steps"):format(one.key,
        opts.steps)}
    end
  end
  local records = measured(study, items, "data set", opts.quiet, function(item)
    return {moved = bliss_players(tables.merged(item.variant.settings, {seed = 1}))}
  end)
  for i, record in ipairs(records) do
    texts[i] = ("%.4f on %s"):format(record.moved, items[i].variant.dataset)
  end
  return #texts > 0 and PLAYERS_NOTE:format(opts.steps, table.concat(texts, ", ")) or nil
end

local function numbers_of(variants)
  return Table.of({"dataset", "model", "method", "steps", "runs", {csv = {"f1", "f1_half_width"}},
    {csv = {"published"}}}, variants, function(one)
      return {one.dataset, one.model, one.method, one.settings.max_batches, #one.records,
        test_f1.cell(one), published(one) or ""}
    end)
end

local ABOUT = [[
Test micro-F1 in percent with 95 %% intervals by Student's t over %s, seeds 1, 2, ...
"confirmed": our interval has the paper's number, a mean of 5 runs whose spread is not known to us;
"above", "below": our mean is, and the interval has it not. Differences are taken seed by seed:
"holds" where ours has the paper's sign, "not separated" where its interval has zero. The paper's
numbers are those that a public digest of it quotes, which has none of LADIES.]]

local STEPS_NOTE = [[
"five epochs": the paper's program multiplies the learning rate by 0.01 after every fifth epoch of
whole batches, which are 20 steps on Cora, 15 on Citeseer and 5 on PubMed; it runs all steps, but
learns next to nothing in the rest. Settings: batches of 32 nodes, layers of 512, 256 and 128 nodes,
learning rate 0.002, 256 hidden columns, dropout 0.1, row-normalised P, nodes drawn by norms. Our
GAT has its 4 heads side by side in these columns, the paper's 256 columns a head (GATv2).]]

local BLISS = {
  where = WHERE, name = "bliss", title = "The table of BLISS, tried again",
  folder = "runs/bliss", identity = "the table of BLISS",
  options = {
    datasets = {"array of strings", {"cora", "citeseer", "pubmed"}, quick = {"cora"}},
    steps = {"positive integer", STEPS, quick = 50}, runs = {"positive integer", 10, quick = 2},
    quick = {"boolean", false}, kept = {"boolean", false},
  },
}

-- Lists the trainings, the cheapest first.
function BLISS.cases(opts, names)
  local list = {}
  for _, steps in ipairs{FEW, ALL} do
    for _, name in ipairs(names) do
      for _, model in ipairs{"sage", "gat"} do
        for _, method in ipairs(METHODS) do
          list[#list + 1] = variant_of(name, model, method, steps, opts)
        end
      end
    end
  end
  return list
end

function BLISS.show(report, variants, opts)
  report:table(f1_table(variants, opts))
  report:table(differences_table(variants, opts))
  report:csv(numbers_of(variants))
end

function BLISS.notes(variants, opts, _, study)
  return {ABOUT:format(words.runs(variants)), STEPS_NOTE, players_text(study, variants, opts)}
end

--- experiments.followers.bliss{runs = 10} -> table: BLISS's table on the citation graphs (see the
-- file's header), each row `runs` times with the seeds 1, 2, ... Returns a report (see
-- ladies.report) with `cases`.
-- datasets   names or paths (cora, citeseer and pubmed)
-- steps      1000; with quick 50
-- runs       10; with quick 2
-- quick      Cora alone
-- settings   of ladies.experiment, over those of the paper, for all that take them
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/bliss-1), which goes on where it was stopped
-- kept       trains nothing: the tables are of the runs that there are
-- quiet      no progress
local function bliss(given) return carry_out(BLISS, given) end

return bliss
