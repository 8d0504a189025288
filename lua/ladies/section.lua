--- Sections of doc/reproduction.md: each command of the reproduction leaves COMMAND.md in the
-- folder of its study, and the pictures that it shows beside it; ladies.report puts them together.
-- Here is what sections have in common: how tables are written, and where the numbers are from.

local core = require "ladies_core"
local csv = require "ladies.csv"
local markdown = require "ladies.markdown"
local progress = require "ladies.progress"

local section = {}

-- The different texts of `f` over the records, in the order in which they come first.
local function distinct(records, f)
  local list, seen = {}, {}
  for _, record in ipairs(records) do
    local text = f(record)
    if text and not seen[text] then list[#list + 1], seen[text] = text, true end
  end
  return list
end

local function side_by_side(record)
  if not record.jobs then return nil end
  return ("%s, %d thread%s each"):format(record.jobs == 1 and "one run at a time"
    or ("%d runs side by side"):format(record.jobs), record.threads,
    record.threads == 1 and "" or "s")
end

--- One paragraph on where the numbers of a study are from: the machine, the program, how many runs
-- shared the machine, how long it took. The times of runs side by side are those of a busy machine.
function section.provenance(study, records)
  local machines = distinct(records, function(record) return record.machine end)
  local sharing = distinct(records, side_by_side)
  return ("%d runs in %s, on %s; %s.%s"):format(#records, progress.duration(study:seconds()),
    table.concat(machines, " and "), table.concat(sharing, "; "),
    #sharing > 1 and " Times of runs that shared the machine differently do not compare." or "")
end

--- The settings of a configuration of ladies.experiment that `keys` names, as "key value, ...".
function section.settings(config, keys)
  local list = {}
  for _, key in ipairs(keys) do
    if config[key] ~= nil then
      list[#list + 1] = ("%s %s"):format((key:gsub("_", " ")), config[key])
    end
  end
  return table.concat(list, ", ")
end

--- Writes rows, arrays of texts and numbers of which the first is the head, as a CSV file.
function section.write_csv(path, rows)
  local lines = {}
  for i, row in ipairs(rows) do
    local cells = {}
    for j, cell in ipairs(row) do cells[j] = csv.field(cell) end
    lines[i] = table.concat(cells, ",")
  end
  core.file.write(path, table.concat(lines, "\n") .. "\n")
end

--- Writes a section: its parts, texts or rows of a table, with an empty line between them.
function section.write(path, parts)
  local texts = {}
  for i, part in ipairs(parts) do
    texts[i] = type(part) == "table" and markdown.table(part) or part
  end
  core.file.write(path, table.concat(texts, "\n\n") .. "\n")
end

return section
