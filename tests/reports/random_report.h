#pragma once
// Reports that nobody would write, the same ones for a seed.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "attnscope/report.h"

namespace attnscope::test {

class Random {
  public:
    /// `digits`: texts hold digits too; without, every digit of a page is one of its numbers or a count.
    explicit Random(unsigned seed, bool digits = true) : engine_(seed), digits_(digits) {}

    size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(engine_); }

    std::string text() {
        static const std::vector<std::string> words{"flash",
                                                    "a|b",
                                                    "`x`",
                                                    "<b>",
                                                    "&amp;",
                                                    "\xff",
                                                    "日本",
                                                    "]]>",
                                                    "\n",
                                                    "* -",
                                                    "void f<int, 4>(char*)",
                                                    "\xE2\x80\xAE",
                                                    "12",
                                                    "_"};
        std::string out;
        for (size_t n = below(6); n > 0; --n) out += words[below(words.size())] + (below(2) ? " " : "");
        if (digits_) return out;
        // What hides text is shown by its number.
        for (size_t at; (at = out.find("\xE2\x80\xAE")) != std::string::npos;) out.erase(at, 3);
        std::erase_if(out, [](char c) { return c >= '0' && c <= '9'; });
        return out;
    }

    double number() {
        switch (below(6)) {
            case 0:
                return 0;
            case 1:
                return static_cast<double>(below(2000));
            case 2:
                return static_cast<double>(below(1000000)) * 1024;
            case 3:
                return std::uniform_real_distribution<double>(0, 100)(engine_);
            case 4:
                return std::pow(10, std::uniform_real_distribution<double>(-12, 20)(engine_));
            default:
                return -static_cast<double>(below(100000)) / 7;
        }
    }

    Value value() {
        const Provenance provenance{static_cast<Source>(below(6)), static_cast<Ground>(below(4))};
        const Unit unit = static_cast<Unit>(below(12));
        if (below(5) == 0) return Value::missing(text(), unit, provenance);
        if (below(40) == 0) return Value::of(std::nan(""), unit, provenance);
        return Value::of(number(), unit, provenance, below(2) ? text() : "");
    }

    Table table() {
        Table table{text(), text(), text(), {}, {}};
        for (size_t n = below(8); n > 0; --n)
            table.columns.push_back({text(), text(), text(), below(2) ? text() : "", below(3) > 0});
        for (size_t n = below(8); n > 0; --n) {
            Row row{text(), static_cast<RowStatus>(below(5)), below(2) ? text() : "", {}};
            for (size_t c = below(table.columns.size() + 1); c > 0; --c)
                row.cells.push_back(
                    {value(), below(2) ? text() : "", below(3) ? "" : text(), below(2) ? number() : 0});
            // A row's name is repeated beside its note: where numbers are counted it is words, as in every
            // real table.
            if (!digits_ && !row.cells.empty()) row.cells[0].text = "name " + text();
            table.rows.push_back(std::move(row));
        }
        return table;
    }

    Report report() {
        Report report;
        report.predicted = below(2);
        report.title = text(), report.banner = text();
        for (auto* list :
             {&report.exact, &report.not_exact, &report.answer, &report.cannot_tell, &report.commands})
            for (size_t n = below(4); n > 0; --n) list->push_back(text());
        for (auto* facts : {&report.strip, &report.checks_passed, &report.environment})
            for (size_t n = below(4); n > 0; --n) facts->push_back({text(), text()});
        report.implementations = table();
        report.methods = table();
        for (size_t n = below(4); n > 0; --n)
            report.notices.push_back({static_cast<NoticeLevel>(below(4)), text(), text(), text(), below(9)});
        for (size_t n = below(10); n > 0; --n) {
            Finding finding{text(), text(), static_cast<Severity>(below(4)), text(), {}, {text()},
                            text(), text()};
            for (size_t e = below(4); e > 0; --e) finding.evidence.push_back({text(), value(), text()});
            report.findings.push_back(std::move(finding));
        }
        for (size_t n = below(4); n > 0; --n) {
            Section section{text(), text(), text(), {}, {}};
            for (size_t t = below(3); t > 0; --t) section.tables.push_back(table());
            for (size_t c = below(3); c > 0; --c) section.charts.push_back(chart());
            report.sections.push_back(std::move(section));
        }
        return report;
    }

  private:
    Chart::Axis axis() {
        return {text(),
                static_cast<Unit>(below(12)),
                below(2) ? number() : 0,
                below(2) ? number() : 0,
                text(),
                below(2) > 0};
    }

    Chart chart() {
        Chart chart;
        chart.id = text(), chart.title = text(), chart.sentence = text();
        chart.kind = static_cast<Chart::Kind>(below(5));
        chart.x = axis(), chart.y = axis();
        // As in any report, an axis has one unit.
        const auto coordinate = [&](const Chart::Axis& on) {
            Value out = value();
            out.unit = on.unit;
            return out;
        };
        for (size_t n = below(12); n > 0; --n)
            chart.points.push_back({text(), text(), coordinate(chart.x),
                                    below(4) ? coordinate(chart.y) : Value{}, below(2) > 0,
                                    below(3) ? "" : text(), below(3) ? "" : text()});
        for (size_t n = below(3); n > 0; --n)
            chart.lines.push_back({text(), value(), number(), number(), number(), number()});
        for (size_t n = below(3); n > 0; --n) chart.series.push_back(text());
        chart.shaded = text();
        return chart;
    }

    std::mt19937 engine_;
    bool digits_;
};

}  // namespace attnscope::test
