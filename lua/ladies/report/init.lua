--- Reports what a command has found, in the folder of its study: NAME.md, the section that `ladies
-- report` puts into its document, NAME.csv, the pictures, and by tostring a text for the terminal.
--
--   local report = Report.new("sweep", folder, "Settings by validation F1")
--   report:heading "cora"
--   report:table(scores)                         -- see ladies.report.table
--   report:picture("cora", {series = ...})       -- see ladies.plot
--   report:note "Means over 10 runs."
--   return report:write()
--
-- Headings, texts, tables and pictures stand in the order in which they come, the notes below them.
-- Whatever they quote of data and files is shown and has no other effect. Fields: `folder`, `files`
-- (names in it), `notes`, `tables` (each as rows of texts), `pictures` ({name =, plot = options of
-- ladies.plot, files =}) and `failed`, the number of runs that failed.

local core = require "ladies_core"
local csv = require "ladies.report.csv"
local Figure = require "ladies.report.figure"
local html = require "ladies.report.html"
local markdown = require "ladies.report.markdown"
local plot = require "ladies.report.plot"
local tables = require "ladies.base.tables"

local Report = {__name = "ladies.Report"}
Report.__index = Report

--- Makes an empty report. folder: the path of the folder, which must exist.
function Report.new(name, folder, title)
  return setmetatable({name = name, folder = folder, title = title, files = {}, notes = {},
    tables = {}, pictures = {}, parts = {}, numbers = {}, failed = 0}, Report)
end

-- Adds a part to the report in its three forms, for the section in Markdown, for the terminal and
-- for a notebook; nil leaves it out of one.
local function add(report, section, text, page)
  table.insert(report.parts, {section = section, text = text, page = page})
end

--- Adds a heading of the third level.
function Report:heading(text)
  add(self, "### " .. markdown.text(text), core.printable(text), html.heading(text))
end

--- Adds a paragraph or a list.
function Report:text(text)
  add(self, markdown.paragraph(text), core.printable(text, true), html.line(text))
end

--- Adds a table to the section and the text, but not to NAME.csv.
function Report:table(content)
  local text, rows = content:markdown(), content:texts()
  add(self, text, text, html.table{head = rows[1], rows = table.move(rows, 2, #rows, 1, {})})
  table.insert(self.tables, rows)
end

--- Adds a table to NAME.csv alone; later ones must have the same columns and continue it.
function Report:csv(content)
  local rows = content:numbers()
  tables.append(self.numbers, self.numbers[1] and table.move(rows, 2, #rows, 1, {}) or rows)
end

--- Adds a table to the section and the text, and to NAME.csv.
function Report:results(content)
  self:table(content)
  self:csv(content)
end

-- Makes a file name of a name by replacing characters that a link in Markdown cannot have.
local function file_name(name)
  return (name:gsub("[^%w_.+-]", function(c) return ("_%02x"):format(c:byte()) end))
end

--- Adds a picture, drawn from options of ladies.plot into NAME.svg and NAME.png. With `shown` it is
-- in the text for the terminal, too.
function Report:picture(name, drawing, shown)
  local figure = Figure.new("report:picture", drawing)
  local files = plot.files(("%s/%s"):format(self.folder, file_name(name)), figure)
  table.insert(self.pictures, {name = name, plot = drawing, files = files})
  tables.append(self.files, files)
  add(self, files[1] and ("![%s](%s)"):format(markdown.text(drawing.title), files[1]),
    shown and function()
      local text, complaint = figure:text()
      return text or ("%s: %s"):format(drawing.title, complaint)
    end, function() return figure:svg() or "" end)
end

--- Adds notes about the whole report, texts of a sentence or more, which stand at its end.
function Report:note(...)
  tables.append(self.notes, {...})
end

--- Writes NAME.md and NAME.csv; returns the report.
function Report:write()
  local sections = {"## " .. markdown.text(self.title)}
  for _, part in ipairs(self.parts) do sections[#sections + 1] = part.section end
  tables.append(sections, tables.map(self.notes, markdown.paragraph))
  local names = {self.name .. ".csv", self.name .. ".md"}
  core.file.write(self.folder .. "/" .. names[1], csv.text(self.numbers))
  core.file.write(self.folder .. "/" .. names[2], table.concat(sections, "\n\n") .. "\n")
  if core.exists(self.folder .. "/results.jsonl") then table.insert(names, 1, "results.jsonl") end
  self.files = tables.append(names, self.files)
  return self
end

function Report:__html()
  local pages = {}
  for _, part in ipairs(self.parts) do
    pages[#pages + 1] = type(part.page) == "function" and part.page() or part.page
  end
  return table.concat(pages, "\n")
end

function Report:__tostring()
  local texts = {}
  for _, part in ipairs(self.parts) do
    texts[#texts + 1] = type(part.text) == "function" and part.text() or part.text
  end
  return table.concat(texts, "\n\n")
end

return Report
