--- Reads times that are texts: whole numbers of any size and sign, and dates, which become seconds
-- since 1970, in UTC unless they name their distance from it.

local dates = {}

--- The form that such a text must have, for messages.
dates.EXPECTED = "a whole number, or a date such as 2024-01-31 or 2024-01-31 13:05:00"

local MONTHS = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

local function is_leap(year)
  return year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)
end

-- Returns the days from the beginning of 1970 to a day of the Gregorian calendar; nil where there
-- is no such day.
local function days_of(year, month, day)
  if month < 1 or month > 12 then return nil end
  if day < 1 or day > MONTHS[month] + (month == 2 and is_leap(year) and 1 or 0) then return nil end
  local before = year - 1
  local days = 365 * (year - 1970) + before // 4 - before // 100 + before // 400 - 477
  for m = 1, month - 1 do days = days + MONTHS[m] end
  if month > 2 and is_leap(year) then days = days + 1 end
  return days + day - 1
end

-- Returns the seconds of a time of the day such as 13:05, 13:05:09 or 13:05:09.25Z, of which the
-- part of a second is left out, and +02:00 behind it taken away; nil for another text.
local function seconds_of(text)
  local hours, minutes, rest = text:match "^(%d%d?):(%d%d)(.*)$"
  if not hours then return nil end
  local seconds, behind = rest:match "^:(%d%d)(.*)$"
  local zone = (behind or rest):gsub("^%.%d+", ""):gsub("^ ", "")
  local sign, zone_hours, zone_minutes = zone:match "^([+-])(%d%d):?(%d%d)$"
  if not sign and zone ~= "" and zone ~= "Z" and zone ~= "UTC" then return nil end
  hours, minutes, seconds = tonumber(hours), tonumber(minutes), tonumber(seconds or 0)
  if hours > 23 or minutes > 59 or seconds > 60 then return nil end
  local away = sign and (tonumber(zone_hours) * 60 + tonumber(zone_minutes)) * 60 or 0
  return (hours * 60 + minutes) * 60 + seconds - (sign == "-" and -away or away)
end

--- dates.is_number(text: any) -> boolean: whether a time is a number, or a text that is one, and no
-- date.
function dates.is_number(x)
  return type(x) == "number" or type(x) == "string" and x:find "^[+-]?%d+$" ~= nil
end

--- dates.time(text) -> integer | nil: the time that a text says, a whole number or a date, in
-- seconds since 1970; nil where it says none.
function dates.time(text)
  local number = dates.is_number(text) and math.tointeger(tonumber(text))
  if number then return number end
  local year, month, day, rest = text:match "^(%d%d%d%d)[-/](%d%d?)[-/](%d%d?)(.*)$"
  local days = year and days_of(tonumber(year), tonumber(month), tonumber(day))
  if not days then return nil end
  local seconds = rest == "" and 0 or rest:find "^[T ]" and seconds_of(rest:sub(2))
  return seconds and 86400 * days + seconds or nil
end

return dates
