--- Makes pages of HTML that need no other file: style and pictures are in the page, and there are
-- no scripts. What comes from data and files is only shown.

local chart_of = require "ladies.report.chart"
local core = require "ladies_core"
local html = require "ladies.report.html"
local palette = require "ladies.report.palette"
local style = require "ladies.report.page_style"
local svg = require "ladies.report.svg"

local Page = {}
Page.__index = Page

--- Makes an empty page.
function Page.new() return setmetatable({parts = {}}, Page) end

--- Adds a line of markup, which is formatted; its values must be markup already.
function Page:add(markup, ...)
  self.parts[#self.parts + 1] = select("#", ...) > 0 and markup:format(...) or markup
end

--- Adds a heading of the second level, of a text.
function Page:heading(text) self:add("<h2>%s</h2>", svg.text(text)) end

--- Adds a paragraph of a text.
function Page:paragraph(text) self:add("<p>%s</p>", svg.text(text)) end

--- Adds a table of texts, head and rows, whose first column names its rows.
function Page:table(head, rows)
  local classes = {}
  for i in pairs(html.word_columns(rows)) do classes[i] = ' class="words"' end
  self:add '<div class="table" tabindex="0"><table>\n<thead><tr>'
  for i, cell in ipairs(head) do
    self:add('<th scope="col"%s>%s</th>', classes[i] or "", svg.text(cell))
  end
  self:add "</tr></thead>\n<tbody>"
  for _, row in ipairs(rows) do
    local cells = {}
    for i, cell in ipairs(row) do
      local markup = i == 1 and '<th scope="row"%s>%s</th>' or "<td%s>%s</td>"
      cells[i] = markup:format(classes[i] or "", svg.text(cell))
    end
    self:add("<tr>%s</tr>", table.concat(cells))
  end
  self:add "</tbody></table></div>"
end

--- Adds a plot, from checked options, with its key; adds nothing where there is nothing to draw.
-- Options may have a width and a height.
function Page:figure(plot)
  local picture = chart_of(plot, plot.width, plot.height)
  if not picture then return end
  self:add("<figure%s><figcaption>%s</figcaption>", plot.width and ' class="wide"' or "",
    svg.text(plot.title))
  self:add("<div%s>\n%s</div>", plot.width and (' style="width: %dpx"'):format(plot.width) or "",
    picture)
  self:add '<ul class="key">'
  for i, series in ipairs(plot.series) do
    if series.name ~= "" then
      self:add('<li class="%s"><svg viewBox="0 0 28 16" aria-hidden="true">%s</svg>'
        .. "<span>%s</span></li>", Page.colour(series.colour or i),
        svg.key(series.colour or i, 3, 8, series.style), svg.text(series.name))
    end
  end
  self:add "</ul></figure>"
end

--- Returns the CSS class that has the colour of series i.
function Page.colour(i) return "c" .. palette.of(i) end

local LAST_LINES = '<p class="soft">ladies %s</p>\n</main>\n</body>\n</html>\n'

--- Tells whether the text of a file is a page that this module made, in this version or another.
function Page.is_one(text) return text:find(LAST_LINES:format "[^<\n]+" .. "$") ~= nil end

--- Returns the whole page, with this title, as the text of an HTML file.
function Page:text(title)
  return table.concat({
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    ("<title>%s</title>"):format(svg.text(title)), "<style>\n" .. style .. "</style>",
    "</head>\n<body>\n<main>", table.concat(self.parts, "\n"),
    LAST_LINES:format(svg.text(core.version)),
  }, "\n")
end

return Page
