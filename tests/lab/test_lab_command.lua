--- ladies lab: what it takes, what it prints and leaves, and what it refuses.
local lu = require "luaunit"
local core = require "ladies_core"
local ladies = require "ladies"
local shell = require "tools.shell"
local temporary = require "reference.temporary"
local toy_study = require "tools.toy_study"

local tests = {}

local SAMPLER = [[
local ladies = require "ladies"
return {
  title = "Mine", settings = {"samples", {"keep", "boolean", default = false, help = "of nodes"}},
  make = function(P, settings)
    return ladies.samplers.ladies(P, {samples = settings.samples, layers = settings.layers,
      self_nodes = settings.keep and "previous" or "none"})
  end,
}
]]

local function file(name, text)
  local path = temporary.path(name)
  ladies.file.write(path, text)
  return path
end

local SMALL = {"--dataset", toy_study.dataset, "--hidden", "8", "--batch-size", "20", "--seconds",
  "0.2", "--quiet"}

-- Runs `ladies lab` with small settings, which ends with a status; returns its output.
local function lab_ends(wanted, ...)
  local words = table.pack("lab", ...)
  local out, err, status = shell.run_ladies(table.move(SMALL, 1, #SMALL, #words + 1, words),
    {env = {shell.checked_lab()}})
  lu.assertEquals({err, status}, {"", wanted})
  return out
end

local function lab(...) return lab_ends(0, ...) end

function tests.test_one_sampler_beside_two()
  local out = lab("graphsage:3", "--samples", "9")
  lu.assertStrContains(out, "GraphSAGE (3), LADIES (9), FastGCN (9) on toy")
  lu.assertStrContains(out, "Comparison. ")
  lu.assertNil(out:find "\nin ")
end

--- An option of the laboratory is that of no method as well.
function tests.test_options_of_one_name()
  local help = shell.silent(shell.run_ladies{"lab", "bliss", "--help"})
  local _, times = help:gsub("\n  %-%-steps ", "")
  lu.assertEquals(times, 1)
  lu.assertStrContains(lab("bliss:5", "--steps", "0", "--against", "none"), "after 0 steps of ")
end

--- A file's own settings are options; --against names others, files too.
function tests.test_own_files()
  local mine = file("mine.lua", SAMPLER)
  local out = lab(mine .. ":7", "--keep", "true", "--against", "ladies:5," .. mine)
  lu.assertStrContains(out, "Mine (7), LADIES (5), Mine (512) on toy")
  local refuses = file("refuses.lua", SAMPLER:gsub("default = false", "default = true")
    :gsub("return ladies", 'assert(not settings.keep, "kept")\n    return ladies'))
  lab(refuses, "--keep", "false", "--against", "none")
  local words = table.move(SMALL, 1, #SMALL, 5, {"lab", refuses, "--against", "none"})
  lu.assertStrContains(shell.refused(shell.run_ladies(words)), "kept")
end

--- The file of a model is no sampler.
function tests.test_own_model()
  local net = file("net.lua", [[
    local ladies = require "ladies"
    return {settings = {"dropout"}, make = function(settings, data)
      return ladies.nn.gcn{inputs = data.features.n_cols, outputs = data.classes, hidden = 8,
        layers = settings.layers, dropout = settings.dropout}
    end}]])
  lu.assertEquals(lab("ladies:5", "--against", "none", "--model", net):match "^[^\n]+",
    "LADIES (5) on toy")
end

function tests.test_alone_and_several()
  local out = lab("full", "--against", "none")
  lu.assertStrMatches(out, "full batch on toy\n.*")
  lu.assertNil(out:find "Comparison")
  lu.assertStrContains(lab("ladies:5", "ladies:9"), "LADIES (5), LADIES (9) on toy")
end

--- The settings of samplers change what is examined.
function tests.test_settings()
  local out = temporary.path "settings"
  lab("ladies:5", "--against", "none", "--draw", "wr", "--normalize", "row", "--out", out)
  local page = ladies.file.read(out .. "/lab.json")
  lu.assertStrContains(page, "draw wr")
end

local LAYER_WISE = [[
local ladies = require "ladies"
return function(P, settings)
  return function(seeds, rng)
    local dst, blocks = seeds, {}
    for l = settings.layers, 1, -1 do
      local U, near = P:slice(dst)
      local pick, w = DRAW
      blocks[l] = {adj = U:pick_cols(pick):scale_cols(w):row_normalize(), dst = dst,
        src = near[pick]}
      dst = near[pick]
    end
    return {blocks = blocks, input = dst, output = seeds}
  end
end
]]

local function layer_wise(name, draw) return file(name, (LAYER_WISE:gsub("DRAW", draw))) end

--- A sampler that fails is reported in one line with the user's, and nothing else; one among
-- several does not keep the others from being examined.
function tests.test_errors_in_a_file()
  local path = layer_wise("wrong.lua",
    "ladies.sampling.choice(U:col_sums(2), settings.samples, {rgn = rng})")
  local words = table.move(SMALL, 1, #SMALL, 5, {"lab", path, "--samples", "9"})
  local err = shell.refused(shell.run_ladies(words))
  lu.assertStrMatches(err, 'ladies lab: [^\n]*wrong%.lua:7: wrong %(9%): seeds 1, draw 1: '
    .. 'sampling%.choice: unknown option "rgn"; did you mean "rng"%?\n')
  err = shell.refused(shell.run_ladies(table.move(SMALL, 1, #SMALL, 5, {"lab",
    layer_wise("call.lua", "rng:choice(#near)"), "--samples", "9"})))
  lu.assertStrMatches(err, 'ladies lab: [^\n]*call%.lua:7: call %(9%): seeds 1, draw 1: Rng has no '
    .. 'field or method "choice"\n')
  -- A fault shows in the status, but not that of a sampler that another is set beside.
  lab_ends(0, "ladies:5", "--against", path .. ":9")
  local out = lab_ends(1, path .. ":9", "ladies:5"):gsub("%s+", " ")
  lu.assertNotNil(out:find "it fails: [^ ]*/wrong%.lua:7: ")
  -- The verdict depends on how many draws fit into the seconds.
  lu.assertNotNil(out:find "LADIES %(5%): %u.-%. The embedding is off by [%d.]+ %%")
  lu.assertNil(out:find("wrong (9): The contract", 1, true))
end

--- A remedy names only settings that the method has: a file of one's own may have no self_nodes.
function tests.test_remedies()
  local own = lab(layer_wise("own.lua",
    "ladies.sampling.choice(U:col_sums(2), settings.samples, {rng = rng})") .. ":6",
    "--against", "none")
  own = own:gsub("%s+", " ")
  lu.assertStrContains(own, "more samples, or each layer's dst among its src, so that a node has")
  local ours = lab("ladies:6", "--against", "none", "--self-nodes", "none"):gsub("%s+", " ")
  lu.assertStrContains(ours, 'more samples, or self_nodes = "previous", so that a node has')
end

function tests.test_what_is_refused()
  local taken = temporary.path "taken"
  ladies.folder.make(taken)
  ladies.file.write(taken .. "/notes", "mine")
  local broken = file("broken.lua", "return {} +")
  for text, case in pairs{
    ["ladies lab: which sampler? ladies lab FILE.lua, or one of "] = {1},
    ['got "laides"; did you mean "ladies"?'] = {1, "laides"},
    ["the samples of ladies must be a positive integer"] = {1, "ladies:x"},
    ["unknown option --sample; did you mean --samples?"] = {2, "ladies", "--sample", "3"},
    ["--draws must be an integer in [2, 1000], got 1"] = {2, "ladies", "--draws", "1"},
    ["missing.lua: cannot be opened"] = {2, "./missing.lua"},
    ["broken.lua:1: "] = {2, broken},
    ["left as they are"] = {1, "ladies", "--out", taken},
    ["train needs a budget, either batches or seconds"] = {1, "ladies", "--train-batches", "2",
      "--train-seconds", "1"},
    ["no method has eta"] = {1, "ladies", "full", "--eta", "0.3"},
    ["--seeds goes with --train-batches or --train-seconds"] = {1, "ladies", "--seeds", "3"},
  } do
    local words = table.move(case, 2, #case, 2, {"lab"})
    local _, err, status = shell.run_ladies(table.move(SMALL, 1, #SMALL, #words + 1, words))
    lu.assertStrContains(err, text)
    lu.assertEquals({status, select(2, err:gsub("\n", ""))}, {case[1], 1}, err)
  end
  lu.assertEquals(core.files(taken), {"notes"})
end

return tests
