--- Makes the report of a laboratory (see ladies.lab.laboratory): as text, as a page of HTML, as
-- JSON, and as files in a folder.

local core = require "ladies_core"
local charts = require "ladies.lab.report.charts"
local errors = require "ladies.base.errors"
local html = require "ladies.lab.report.html"
local json = require "ladies.base.json"
local machine = require "ladies.base.machine"
local own_folder = require "ladies.base.own_folder"
local plain = require "ladies.lab.report.plain"
local plot = require "ladies.report.plot"
local Report = require "ladies.report"
local Table = require "ladies.report.table"
local text = require "ladies.lab.report.text"
local view = require "ladies.lab.report.view"

local report = {}

--- Returns the report for the terminal, at most 100 columns wide.
report.text = text

--- Returns the report as a page of HTML that needs no other file.
report.html = html

--- Returns the JSON text of the whole report, with unrounded numbers; keys are sorted, and are the
-- same for every sampler.
function report.json(laboratory)
  return json.encode(plain(laboratory), "  ") .. "\n"
end

local function add_verdict(section, one)
  section:heading(one.subject.title)
  section:text(one.verdict)
  local lines = {}
  for _, fault in ipairs(one.faults) do
    lines[#lines + 1] = ("- %s: %s. %s.%s"):format(view.kind(fault), fault.text, fault.proof,
      fault.remedy and (" Remedy: %s."):format(fault.remedy) or "")
  end
  for _, note in ipairs(one.notes) do lines[#lines + 1] = "- " .. note end
  if lines[1] then section:text(table.concat(lines, "\n")) end
end

local function add_numbers(section, one)
  local content = Table.new{"number", "value", "95 % interval", "what it says"}
  local cells = Table.new{"sampler", "section", "key", "label", "mean", "low", "high", "n"}
  for _, part in ipairs(view.sections(one)) do
    for _, finding in ipairs(part.findings) do
      content:add{finding.label, view.number(finding, finding.mean), view.interval(finding),
        finding.sentence or ""}
      cells:add{one.subject.title, part.key, finding.key, finding.label, finding.mean,
        finding.low, finding.high, finding.n}
    end
  end
  section:table(content)
  section:csv(cells)
end

local function add_comparison(section, laboratory)
  local comparison = view.comparison(laboratory)
  if #comparison.names < 2 then return end
  section:heading "Comparison"
  section:text(view.equal(laboratory))
  local content = Table.new{"number", table.unpack(comparison.names)}
  local function add(label, finding, intervals)
    local cells, is_empty = {label}, true
    for i, interval in ipairs(intervals) do
      is_empty = is_empty and not interval
      cells[i + 1] = interval and view.spread(finding, interval) or "-"
    end
    if not is_empty then content:add(cells) end
  end
  for _, row in ipairs(comparison.rows) do
    add(row.finding.label, row.finding, row.values)
    add("times that of the first", view.RATIO, row.ratios)
  end
  section:table(content)
end

local function add_pictures(section, laboratory)
  local pictures = charts.of(laboratory)
  for _, picture in ipairs(pictures) do section:picture(picture.name, picture.plot) end
  if pictures[1] and not plot.available() then
    section:note "There are no PNG files of the pictures: rsvg-convert is not installed."
  end
end

-- Returns the names of the pictures that an earlier laboratory has left in the folder, without
-- their endings.
local function earlier_pictures(folder)
  if not folder:has "lab.json" then return {} end
  local ok, data = errors.try(folder.read_json, folder, "lab.json")
  return ok and type(data) == "table" and type(data.pictures) == "table" and data.pictures or {}
end

-- Removes pictures in the folder that this laboratory does not have.
local function remove_pictures(folder, names, files)
  local kept = {}
  for _, name in ipairs(files) do kept[name] = true end
  for _, name in ipairs(names) do
    for _, file in ipairs{("%s.svg"):format(name), ("%s.png"):format(name)} do
      if not kept[file] and not file:find "/" then os.remove(folder:file(file)) end
    end
  end
end

--- Writes lab.html, lab.json, lab.md, lab.csv and the pictures (SVG, and PNG where librsvg is
-- installed) into a folder, which is new, empty, or of an earlier laboratory, which is replaced;
-- returns the report (see ladies.report).
function report.write(laboratory, path)
  local folder = own_folder.at(path)
  local _ <close> = folder:take "laboratory"
  local section = Report.new("lab", folder.path, "Laboratory: " .. view.title(laboratory))
  section:text(view.circumstances(laboratory))
  for _, one in ipairs(laboratory.examinations) do add_verdict(section, one) end
  add_comparison(section, laboratory)
  add_pictures(section, laboratory)
  for _, one in ipairs(laboratory.examinations) do
    section:heading("All numbers of " .. one.subject.title)
    add_numbers(section, one)
  end
  section:note(("Measured on %s."):format(machine.text()))
  local before = earlier_pictures(folder)
  core.file.write(folder:file "lab.html", html(laboratory))
  core.file.write(folder:file "lab.json", report.json(laboratory))
  section:write()
  remove_pictures(folder, before, section.files)
  table.insert(section.files, 1, "lab.html")
  table.insert(section.files, 2, "lab.json")
  return section
end

return report
