--- Makes a laboratory's report as one page of HTML (ladies.report.page).

local charts = require "ladies.lab.report.charts"
local Page = require "ladies.report.page"
local svg = require "ladies.report.svg"
local view = require "ladies.lab.report.view"

local colour_of, text = Page.colour, svg.text

-- ---------------------------------------------------------------- verdicts

local function add_card(page, one, i)
  page:add('<article class="%s">\n<h2>%s</h2>', colour_of(i), text(one.subject.title))
  page:add("<p>%s</p>", text(one.verdict))
  for _, fault in ipairs(one.faults) do
    local kind = view.kind(fault)
    page:add('<div class="%s"><strong>%s: %s.</strong>', kind, kind, text(fault.text))
    page:add("<p>%s</p>", text(fault.proof))
    if fault.remedy then page:add("<p>Remedy: %s</p>", text(fault.remedy)) end
    page:add "</div>"
  end
  for _, note in ipairs(one.notes) do page:add("<p>%s</p>", text(note)) end
  page:add('<p class="soft">%s<br>P: %s</p>\n</article>', text(one.subject.settings_text),
    text(one.subject.P_text))
end

-- ---------------------------------------------------------------- numbers

-- Returns the scale {least, most} of the bars of each key, the same for all samplers so that bars
-- can be compared.
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

local function bar(scales, finding, interval, i)
  local scale = scales[finding.key]
  return svg.bar(interval, math.min(scale[1], interval.low), math.max(scale[2], interval.high), i)
end

local function add_comparison(page, laboratory, scales)
  local comparison = view.comparison(laboratory)
  if #comparison.names < 2 then return end
  page:add('<h2 id="comparison">Comparison</h2>\n<p>%s</p>', text(view.equal(laboratory)))
  page:add '<div class="table" tabindex="0"><table>\n<thead><tr><th scope="col">number</th>'
  for i, name in ipairs(comparison.names) do
    page:add('<th scope="col"><span class="dot %s"></span>%s</th>', colour_of(i), text(name))
  end
  page:add "</tr></thead>\n<tbody>"
  for _, row in ipairs(comparison.rows) do
    page:add('<tr><th scope="row">%s</th>', text(row.finding.label))
    for i, interval in ipairs(row.values) do
      local ratio = row.ratios[i]
      page:add("<td>%s%s%s</td>",
        interval and text(view.spread(row.finding, interval)) or "-",
        interval and "<br>" .. bar(scales, row.finding, interval, i) or "",
        ratio and ("<small>%s times the first</small>"):format(
          text(view.spread(view.RATIO, ratio))) or "")
    end
    page:add "</tr>"
  end
  page:add "</tbody></table></div>"
end

local function add_section(page, section, i, scales)
  page:add('<h3>%s</h3>\n<div class="table" tabindex="0"><table>', text(section.title))
  page:add '<thead><tr><th scope="col">number</th><th scope="col">value</th>'
  page:add '<th scope="col">95 % interval</th><th scope="col"></th></tr></thead>\n<tbody>'
  for _, finding in ipairs(section.findings) do
    page:add('<tr><th scope="row">%s%s</th><td>%s</td><td>%s</td><td>%s</td></tr>',
      text(finding.label),
      finding.sentence and ("<small>%s</small>"):format(text(finding.sentence)) or "",
      text(view.number(finding, finding.mean)), text(view.interval(finding)),
      bar(scales, finding, finding, i))
  end
  page:add "</tbody></table></div>"
end

local function add_details(page, one, i, scales)
  page:add('<details%s>\n<summary><span class="dot %s"></span>%s</summary>', i == 1 and " open"
    or "", colour_of(i), text(one.subject.title))
  for _, section in ipairs(view.sections(one)) do add_section(page, section, i, scales) end
  page:add "</details>"
end

--- Returns the page as text.
return function(laboratory)
  local page, scales = Page.new(), scales_of(laboratory)
  page:add("<header>\n<h1>%s</h1>", text(table.concat(view.names(laboratory), ", ")))
  page:add('<p>On %s. %s</p>', text(laboratory.data), text(view.circumstances(laboratory)))
  page:add '</header>\n<div class="cards">'
  for i, one in ipairs(laboratory.examinations) do add_card(page, one, i) end
  page:add "</div>"
  add_comparison(page, laboratory, scales)
  local pictures = charts.of(laboratory)
  if pictures[1] then
    page:add '<h2 id="pictures">Pictures</h2>\n<div class="figures">'
    for _, picture in ipairs(pictures) do page:figure(picture.plot) end
    page:add "</div>"
  end
  page:add '<h2 id="numbers">All numbers</h2>'
  for i, one in ipairs(laboratory.examinations) do add_details(page, one, i, scales) end
  return page:text(view.title(laboratory))
end
