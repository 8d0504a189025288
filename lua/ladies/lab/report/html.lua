--- A laboratory's report as one page of HTML that needs nothing else: style and pictures are within
-- it, and there are no scripts. What comes from data and files is only shown.

local chart_of = require "ladies.report.chart"
local charts = require "ladies.lab.report.charts"
local core = require "ladies_core"
local palette = require "ladies.report.palette"
local style = require "ladies.lab.report.style"
local svg = require "ladies.report.svg"
local view = require "ladies.lab.report.view"

local text = svg.text

local Page = {}
Page.__index = Page

-- Adds a line of markup; its values must be markup already.
function Page:add(markup, ...)
  self.parts[#self.parts + 1] = select("#", ...) > 0 and markup:format(...) or markup
end

-- The class of the colour of sampler i.
local function colour_of(i) return "c" .. palette.of(i) end

-- ---------------------------------------------------------------- verdicts

function Page:card(one, i)
  self:add('<article class="%s">\n<h2>%s</h2>', colour_of(i), text(one.subject.title))
  self:add("<p>%s</p>", text(one.verdict))
  for _, fault in ipairs(one.faults) do
    local kind = view.kind(fault)
    self:add('<div class="%s"><strong>%s: %s.</strong>', kind, kind, text(fault.text))
    self:add("<p>%s</p>", text(fault.proof))
    if fault.remedy then self:add("<p>Remedy: %s</p>", text(fault.remedy)) end
    self:add "</div>"
  end
  for _, note in ipairs(one.notes) do self:add("<p>%s</p>", text(note)) end
  self:add('<p class="soft">%s<br>P: %s</p>\n</article>', text(one.subject.settings_text),
    text(one.subject.P_text))
end

-- ---------------------------------------------------------------- numbers

-- The bounds of the bars of each key, so that those of all samplers compare: key -> {least, most}.
local function scales_of(laboratory)
  local scales = {}
  for _, one in ipairs(laboratory.examinations) do
    for _, finding in ipairs(one.findings) do
      local scale = scales[finding.key] or {0, 0}
      scales[finding.key] = {math.min(scale[1], finding.low), math.max(scale[2], finding.high)}
    end
  end
  return scales
end

function Page:bar(finding, interval, i)
  local scale = self.scales[finding.key]
  return svg.bar(interval, math.min(scale[1], interval.low), math.max(scale[2], interval.high), i)
end

function Page:comparison(laboratory)
  local comparison = view.comparison(laboratory)
  if #comparison.names < 2 then return end
  self:add('<h2 id="comparison">Comparison</h2>\n<p>%s</p>', text(view.equal(laboratory)))
  self:add '<div class="table" tabindex="0"><table>\n<thead><tr><th scope="col">number</th>'
  for i, name in ipairs(comparison.names) do
    self:add('<th scope="col"><span class="dot %s"></span>%s</th>', colour_of(i), text(name))
  end
  self:add "</tr></thead>\n<tbody>"
  for _, row in ipairs(comparison.rows) do
    self:add('<tr><th scope="row">%s</th>', text(row.finding.label))
    for i, interval in ipairs(row.values) do
      local ratio = row.ratios[i]
      self:add("<td>%s%s%s</td>",
        interval and text(view.spread(row.finding, interval)) or "-",
        interval and "<br>" .. self:bar(row.finding, interval, i) or "",
        ratio and ("<small>%s times the first</small>"):format(
          text(view.spread(view.RATIO, ratio))) or "")
    end
    self:add "</tr>"
  end
  self:add "</tbody></table></div>"
end

function Page:section(section, i)
  self:add('<h3>%s</h3>\n<div class="table" tabindex="0"><table>', text(section.title))
  self:add '<thead><tr><th scope="col">number</th><th scope="col">value</th>'
  self:add '<th scope="col">95 % interval</th><th scope="col"></th></tr></thead>\n<tbody>'
  for _, finding in ipairs(section.findings) do
    self:add('<tr><th scope="row">%s%s</th><td>%s</td><td>%s</td><td>%s</td></tr>',
      text(finding.label),
      finding.sentence and ("<small>%s</small>"):format(text(finding.sentence)) or "",
      text(view.number(finding, finding.mean)), text(view.interval(finding)),
      self:bar(finding, finding, i))
  end
  self:add "</tbody></table></div>"
end

function Page:details(one, i)
  self:add('<details%s>\n<summary><span class="dot %s"></span>%s</summary>', i == 1 and " open"
    or "", colour_of(i), text(one.subject.title))
  for _, section in ipairs(view.sections(one)) do self:section(section, i) end
  self:add "</details>"
end

-- ---------------------------------------------------------------- pictures

function Page:figure(plot)
  local picture = chart_of(plot)
  if not picture then return end
  self:add("<figure><figcaption>%s</figcaption>\n%s", text(plot.title), picture)
  self:add '<ul class="key">'
  for i, series in ipairs(plot.series) do
    if series.name ~= "" then
      self:add('<li><svg viewBox="0 0 28 16" aria-hidden="true">%s</svg>%s</li>',
        svg.key(series.colour or i, 3, 8, series.style), text(series.name))
    end
  end
  self:add "</ul></figure>"
end

--- The page as text.
return function(laboratory)
  local page = setmetatable({parts = {}, scales = scales_of(laboratory)}, Page)
  local names = table.concat(view.names(laboratory), ", ")
  page:add '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
  page:add '<meta name="viewport" content="width=device-width, initial-scale=1">'
  page:add("<title>%s</title>", text(view.title(laboratory)))
  page.parts[#page.parts + 1] = "<style>\n" .. style .. "</style>"
  page:add("</head>\n<body>\n<main>\n<header>\n<h1>%s</h1>", text(names))
  page:add('<p>On %s. %s</p>', text(laboratory.data), text(view.circumstances(laboratory)))
  page:add '</header>\n<div class="cards">'
  for i, one in ipairs(laboratory.examinations) do page:card(one, i) end
  page:add "</div>"
  page:comparison(laboratory)
  local pictures = charts.of(laboratory)
  if pictures[1] then
    page:add '<h2 id="pictures">Pictures</h2>\n<div class="figures">'
    for _, picture in ipairs(pictures) do page:figure(picture.plot) end
    page:add "</div>"
  end
  page:add '<h2 id="numbers">All numbers</h2>'
  for i, one in ipairs(laboratory.examinations) do page:details(one, i) end
  page:add('<p class="soft">ladies %s</p>\n</main>\n</body>\n</html>', text(core.version))
  return table.concat(page.parts, "\n") .. "\n"
end
