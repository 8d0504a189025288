--- The depth table of GCNII (Chen, Wei, Huang, Ding and Li, ICML 2020, table 3) on Cora, tried
-- again with full batches and with LADIES.
--
-- The settings are the authors': 64 hidden columns, dropout 0.6, learning rate 0.01, alpha 0.1,
-- theta 0.5, a weight decay of 0.01 for the maps of the layers and 0.0005 for the first and the
-- last, rows of the features divided by their sums, and the model of the lowest validation loss,
-- which is looked for until it has not fallen for 100 epochs.

local carry_out = require "ladies.study.carry_out"
local experiment = require "ladies.experiment"
local methods = require "ladies.experiment.methods"
local run_folder = require "ladies.training.record.run_folder"
local statistics = require "ladies.statistics"
local words = require "experiments.followers.words"
local Table = require "ladies.report.table"
local tables = require "ladies.base.tables"
local test_f1 = require "ladies.study.test_f1"

local WHERE = "experiments.followers.gcnii"

-- The paper's numbers, in percent, by data set and layers.
local PUBLISHED = {
  cora = {[2] = 82.2, [4] = 82.6, [8] = 84.2, [16] = 84.6, [32] = 85.4, [64] = 85.5},
}

local SETTINGS = {
  model = "gcnii", alpha = 0.1, hidden = 64, dropout = 0.6, input_dropout = 0.6, lr = 0.01,
  weight_decay = 0.01, groups = "first.*:weight_decay=5e-4; head.*:weight_decay=5e-4",
  features = "row_normalized", monitor = "loss", min_gain = 0, patience = 100, eval_every = 1,
}

-- Every layer holds the nodes of the one above, where the method leaves a choice.
local KEPT = {self_nodes = "previous"}

local function published(dataset, layers) return (PUBLISHED[dataset] or {})[layers] end

-- Makes the table with a row for each method and a column for each depth, the paper's row first;
-- below each row stands how it compares with the paper's full batch.
local function table_of(variants, opts)
  local dataset, n = variants[1].dataset, #opts.methods
  local results = Table.new(tables.append({"layers"},
    tables.map(opts.depths, function(layers) return tostring(layers) end)))
  results:add(tables.append({"paper, full batch"}, tables.map(opts.depths, function(layers)
    return Table.number(published(dataset, layers), "%.1f")
  end)))
  for i = 1, n do
    local function add(label, cell_of)
      results:add(tables.append({label}, tables.map(opts.depths, function(layers, d)
        return cell_of(variants[(d - 1) * n + i], layers)
      end)))
    end
    add(variants[i].title, test_f1.cell)
    add("beside the paper's", function(one, layers)
      return words.beside(one, published(dataset, layers))
    end)
  end
  return results
end

-- Draws test F1 over depth.
local function picture_of(variants, opts)
  local series, n = {}, #opts.methods
  for i = 1, n do
    local points = {}
    for d, layers in ipairs(opts.depths) do
      local f1 = statistics.present(test_f1.of(variants[(d - 1) * n + i]))
      local mean, half = statistics.mean(f1), #f1 > 0 and statistics.half_width(f1)
      points[#points + 1] = mean and {layers, mean, mean - half, mean + half}
    end
    if #points > 0 then
      series[#series + 1] = {name = variants[i].title, points = points, style = "both",
        spread = "bars"}
    end
  end
  return {title = variants[1].dataset .. ": GCNII by depth", x = "layers", y = "test F1 %",
    log = "x", x_ticks = opts.depths, series = series}
end

local function numbers_of(variants)
  return Table.of({"dataset", "method", "layers", "runs", {csv = {"f1", "f1_half_width"}},
    {csv = {"published"}}}, variants, function(one)
      return {one.dataset, one.title, one.layers, #one.records, test_f1.cell(one),
        published(one.dataset, one.layers) or ""}
    end)
end

local ABOUT = [[
Test micro-F1 in percent with 95 %% intervals by Student's t over %s, seeds 1, 2, ...
"confirmed": the interval has the paper's number for full batches, whose spread is not known to us;
"above", "below": our mean is, and the interval has it not.
Settings are the paper's: 64 hidden columns, dropout 0.6, learning rate 0.01, alpha 0.1, theta 0.5,
weight decay 0.01 for the layers' maps and 0.0005 for the first and the last, rows of features
divided by their sums, patience 100 batches, the model of the lowest validation loss.]]

-- How large the lowest layer becomes, where each is united with the one above.
local LOWEST = [[
Every layer of LADIES holds the nodes of the one above: the inputs of its mini-batches have %s.]]

-- Says how many nodes the input of LADIES has by depth, "1156 nodes with 2 layers, 2180 with 4";
-- nil where nothing is trained with LADIES.
local function inputs_text(variants)
  local texts = {}
  for _, one in ipairs(variants) do
    if one.settings.method == "ladies" and #one.records > 0 then
      local rows = tables.map(one.records, function(record) return record.input_rows end)
      texts[#texts + 1] = ("%.0f%s with %d%s"):format(statistics.mean(rows),
        texts[1] and "" or " nodes", one.layers, texts[1] and "" or " layers")
    end
  end
  return texts[1] and table.concat(texts, ", ")
end

local GCNII = {
  where = WHERE, name = "gcnii", title = "GCNII by depth",
  folder = "runs/gcnii", identity = "GCNII by depth",
  options = {
    dataset = {"string", "cora"}, methods = {"array of strings", {"full", "ladies:512"}},
    depths = {"array of positive integers", {2, 4, 8, 16, 32, 64}, quick = {2, 4, 8}},
    runs = {"positive integer", 5, quick = 2}, quick = {"boolean", false},
    kept = {"boolean", false},
  },
}

function GCNII.check(opts)
  opts.datasets = {opts.dataset}
  if opts.quick then opts.settings = tables.merged({max_batches = 50}, opts.settings) end
end

-- Lists the trainings depth by depth, so that the cheap ones come first.
function GCNII.cases(opts, names)
  local name, list = names[1], {}
  local parsed = tables.map(opts.methods, function(text) return methods.parse(WHERE, text) end)
  local shared = methods.share(WHERE, tables.map(parsed, function(one) return one.method end),
    opts.settings)
  for _, layers in ipairs(opts.depths) do
    for i, one in ipairs(parsed) do
      local settings = tables.merged(methods.pick(one.method, KEPT), SETTINGS, shared[i], one,
        {dataset = name, layers = layers})
      local title = methods.title(experiment.configure(settings))
      list[#list + 1] = {dataset = run_folder.plain(name), layers = layers, title = title,
        settings = settings,
        key = ("%s, %d layers, %s"):format(run_folder.plain(name), layers, title)}
    end
  end
  return list
end

function GCNII.show(report, variants, opts)
  report:table(table_of(variants, opts))
  report:picture("depth", picture_of(variants, opts), true)
  report:csv(numbers_of(variants))
end

function GCNII.notes(variants)
  local inputs = inputs_text(variants)
  return {ABOUT:format(words.runs(variants)), inputs and LOWEST:format(inputs)}
end

--- experiments.followers.gcnii{runs = 5} -> table: test F1 of GCNII with 2 to 64 layers beside the
-- paper's. Returns a report (see ladies.report) with `cases`.
-- dataset    a name or path (cora)
-- depths     numbers of layers (2, 4, 8, 16, 32 and 64; with quick 2, 4 and 8)
-- methods    names, with samples behind a colon (full and ladies:512)
-- runs       5; with quick 2
-- quick      50 batches each
-- settings   of ladies.experiment, over those of the paper, for all methods that take them
-- jobs       runs side by side (as many as there are cores), each with `threads` threads (1)
-- out        the folder of the study (runs/gcnii-1), which goes on where it was stopped
-- kept       trains nothing: the tables are of the runs that there are
-- quiet      no progress
local function gcnii(given) return carry_out(GCNII, given) end

return gcnii
