--- Puts doc/reproduction.md together from the sections that the commands of the reproduction have
-- left in the folders of their studies: `ladies report` makes it again. All its numbers come from
-- there, but for those in "What was found", a section written by hand, which it keeps.
--
-- A command NAME that measures something belongs to it by a line in COMMANDS. Its study's folder is
-- called NAME or NAME-..., and holds NAME.md, which may show pictures of the same folder:
-- ![text](picture.svg). A section that does not begin with a heading of the second level gets that
-- of COMMANDS.

local core = require "ladies_core"
local by_preset = require "experiments.paper.table3.by_preset"
local declared = require "experiments.options"
local deviations = require "experiments.paper.deviations"
local errors = require "ladies.base.errors"
local options = require "ladies.base.options"
local section_of = require "experiments.section"

local WHERE = "experiments.paper.report"

-- In the order of the document.
local COMMANDS = {
  {"table3", "Table 3"},
  {"sweep", "Settings by validation F1"},
  {"ablate", "Ablation"},
  {"figures", "Figures"},
  {"variance", "Table 2, measured: the error of sampled embeddings"},
  {"costs", "Table 2, measured: time and memory of a batch"},
}

local HEAD = [[
# The paper, reproduced

Made by `ladies report` from the results of the commands below, each of which keeps its runs in a
folder, says on which machine and with which settings they were made and how long they took, and
goes on where it was stopped. Nothing but *What was found* is written by hand.
]]

-- Returns the section "What was found" of the document that is there, up to the next one; nil for
-- none.
local function findings(path)
  if core.exists(path) ~= "file" then return nil end
  return ("\n" .. core.file.read(path) .. "\n## "):match "\n(## What was found\n.-)\n## "
end

-- Returns the folders below `runs` with the section of a command: those of the preset `default`,
-- then the others, each in alphabetical order.
local function folders_of(runs, command)
  local list = {}
  for _, name in ipairs(core.files(runs)) do
    local own = name == command or name:sub(1, #command + 1) == command .. "-"
    if own and core.exists(("%s/%s/%s.md"):format(runs, name, command)) == "file" then
      list[#list + 1] = name
    end
  end
  table.sort(list, function(a, b)
    local first, second = a:find "%-default%-", b:find "%-default%-"
    if (first == nil) ~= (second == nil) then return first ~= nil end
    return a < b
  end)
  return list
end

-- F1 by preset, of the first folder of table 3 for each; nil without two of them.
local function presets_section(runs)
  local folders = {}
  for _, name in ipairs(folders_of(runs, "table3")) do
    local preset = name:match "^table3%-(%a+)"
    local results = ("%s/%s/results.jsonl"):format(runs, name)
    if preset and not folders[preset] and core.exists(results) == "file" then
      folders[preset] = runs .. "/" .. name
    end
  end
  local results, above, below = by_preset(folders)
  if not results then return nil end
  local function named(list) return #list > 0 and table.concat(list, ", ") or "nothing" end
  return ([[
## Table 3: F1 by preset

%s

Test F1 in percent, means with 95 %% intervals by Student's t; the paper's from its deviations over
10 runs. "nearest" is the preset whose mean is nearest to the paper's, with a star where its
interval contains it.

Above the paper's with every preset, by intervals of the differences: %s. Below it with every
preset: %s. No reading explains these.]]):format(results:markdown(), named(above), named(below))
end

--- experiments.paper.report{runs = "runs", out = "doc/reproduction.md"} -> integer, string[]:
-- writes the document of all studies in the folder `runs`, and its pictures into a folder beside
-- it; returns the number of sections and the commands that have none yet.
local function report(given)
  local opts = options.check(WHERE, given, declared.types "report")
  if not opts.out:find "%.md$" then
    errors.fail(("%s: out must end in .md, got %s"):format(WHERE, opts.out))
  end
  local found = findings(opts.out)
  local parts, missing, n = {HEAD, found}, {}, 0
  for _, command in ipairs(COMMANDS) do
    parts[1] = ("%s\n* `ladies %s`: %s"):format(parts[1], command[1], command[2])
  end
  for _, command in ipairs(COMMANDS) do
    local folders = folders_of(opts.runs, command[1])
    if #folders == 0 then missing[#missing + 1] = command[1] end
    for _, folder in ipairs(folders) do
      parts[#parts + 1] = section_of{
        folder = opts.runs .. "/" .. folder, name = command[1], title = command[2], out = opts.out}
      n = n + 1
    end
    if command[1] == "table3" and n > 0 then
      table.insert(parts, found and 3 or 2, deviations)
      parts[#parts + 1] = presets_section(opts.runs)
    end
  end
  if n == 0 then
    errors.fail(("%s: there are no results in %s; `ladies table3` makes some"):format(WHERE,
      opts.runs))
  end
  for i, part in ipairs(parts) do parts[i] = part:gsub("%s*$", "") end
  core.file.write(opts.out, table.concat(parts, "\n\n") .. "\n")
  return n, missing
end

return report
