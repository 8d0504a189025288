--- Makes a laboratory's report for the terminal: first all numbers of the first sampler, then the
-- comparison, and last the verdicts and faults, which stay on the screen when the rest has scrolled
-- away.

local core = require "ladies_core"
local tables = require "ladies.base.tables"
local view = require "ladies.lab.report.view"
local wrap = require "ladies.base.wrap"

-- Widths in columns: that of the whole report, the most for a finding's name, the most for a
-- sampler's name, and the fewest and the most for a finding's name in the comparison.
local WIDTH, LABEL, NAME, LEAST, MEASURE = 100, 56, 24, 18, 38

local Text = {}
Text.__index = Text

-- Adds a line, or without a text an empty line.
function Text:line(text)
  self.lines[#self.lines + 1] = (text or ""):gsub("%s+$", "")
end

-- Adds a paragraph, whose lines after the first are indented by `further` columns more.
function Text:paragraph(text, indent, further)
  for i, line in ipairs(wrap(core.printable(text), WIDTH - indent - further, true)) do
    self:line((" "):rep(indent + (i > 1 and further or 0)) .. line)
  end
end

local function left(text, width) return text .. (" "):rep(width - utf8.len(text)) end

local function right(text, width) return (" "):rep(width - utf8.len(text)) .. text end

-- Adds a row whose first cell may take several lines; the other cells are in the last of these
-- lines.
function Text:row(label, width, cells, widths)
  local lines = wrap(core.printable(label), width, true)
  for i = 1, #lines - 1 do self:line("  " .. lines[i]) end
  local parts = tables.map(cells, function(cell, j) return right(cell, widths[j]) end)
  self:line(("  %s  %s"):format(left(lines[#lines] or "", width), table.concat(parts, "  ")))
end

local function widest(texts, least)
  for _, text in ipairs(texts) do least = math.max(least, utf8.len(text)) end
  return least
end

function Text:verdict(one)
  self:paragraph(("%s: %s"):format(one.subject.title, one.verdict), 0, 2)
  for _, fault in ipairs(one.faults) do
    self:paragraph(("%s: %s."):format(view.kind(fault), fault.text), 2, 2)
    self:paragraph("proof: " .. fault.proof, 4, 2)
    if fault.remedy then self:paragraph("remedy: " .. fault.remedy, 4, 2) end
  end
  for _, note in ipairs(one.notes) do self:paragraph("note: " .. note, 2, 2) end
end

-- Adds the numbers of a section with their sentences, except repeated sentences and those about
-- single parameters.
function Text:section(title, findings)
  local values = tables.map(findings, function(one) return view.number(one, one.mean) end)
  local intervals = tables.map(findings, view.interval)
  local widths = {widest(values, 5), widest(intervals, 15)}
  local label = math.min(LABEL, widest(tables.map(findings, function(one)
    return core.printable(one.label)
  end), #title))
  self:line()
  self:line(("%s  %s  %s"):format(left(title, label + 2), right("value", widths[1]),
    right("95 % interval", widths[2])))
  local told = {}
  for i, one in ipairs(findings) do
    self:row(one.label, label, {values[i], intervals[i]}, widths)
    if one.sentence and not told[one.sentence] and not one.key:find "^parameters%." then
      told[one.sentence] = true
      self:paragraph(one.sentence, 6, 0)
    end
  end
end

-- Breaks a sampler's name into lines that fit into a column.
local function name_lines(name) return wrap(core.printable(name), NAME, true) end

-- Returns the rows of the comparison as {label =, cells = a text for each sampler}; the first rows
-- hold the samplers' names.
local function rows_of(comparison)
  local rows, heads, most = {}, tables.map(comparison.names, name_lines), 0
  for _, lines in ipairs(heads) do most = math.max(most, #lines) end
  for k = 1, most do
    rows[k] = {label = "", cells = tables.map(heads, function(lines)
      return lines[k - most + #lines] or ""
    end)}
  end
  local function add(label, intervals, finding)
    rows[#rows + 1] = {label = label, cells = tables.map(intervals, function(interval)
      return interval and view.spread(finding, interval) or ""
    end)}
  end
  for _, row in ipairs(comparison.rows) do
    add(row.finding.label, row.values, row.finding)
    add("times that of the first", row.ratios, view.RATIO)
  end
  return rows
end

-- Divides the samplers into lists of numbers whose columns fit side by side; the first sampler is
-- in each list.
local function parts_of(widths, room)
  local parts, used = {}, math.huge
  for i = 2, #widths do
    if used + 2 + widths[i] > room then
      parts[#parts + 1], used = {1}, widths[1]
    end
    table.insert(parts[#parts], i)
    used = used + 2 + widths[i]
  end
  return parts
end

function Text:comparison(laboratory)
  local comparison = view.comparison(laboratory)
  if #comparison.names < 2 then return end
  self:line()
  self:paragraph("Comparison. " .. view.equal(laboratory), 0, 0)
  local rows, widths = rows_of(comparison), {}
  for i = 1, #comparison.names do
    widths[i] = widest(tables.map(rows, function(row) return row.cells[i] end), 5)
  end
  for _, places in ipairs(parts_of(widths, WIDTH - LEAST - 4)) do
    local function pick(list) return tables.map(places, function(i) return list[i] end) end
    local room = WIDTH - 2
    for _, width in ipairs(pick(widths)) do room = room - 2 - width end
    local label = math.min(MEASURE, room)
    self:line()
    for _, row in ipairs(rows) do
      local cells = pick(row.cells)
      if row.label == "" or table.concat(cells) ~= "" then
        self:row(row.label, label, cells, pick(widths))
      end
    end
  end
end

--- Returns the report as text of at most 100 columns.
return function(laboratory)
  local self = setmetatable({lines = {}}, Text)
  self:paragraph(view.title(laboratory), 0, 2)
  self:paragraph(view.circumstances(laboratory), 0, 0)
  local first = laboratory.examinations[1]
  for _, section in ipairs(view.sections(first)) do
    self:section(("%s: %s"):format(first.subject.title, section.title), section.findings)
  end
  self:comparison(laboratory)
  for _, one in ipairs(laboratory.examinations) do
    self:line()
    self:verdict(one)
  end
  return table.concat(self.lines, "\n")
end
