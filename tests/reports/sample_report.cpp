#include "sample_report.h"

namespace attnscope::test {
namespace {

Provenance virtual_(Source source) {
    return {source, Ground::virtual_gpu};
}

Cell words(std::string text, std::string full = {}) {
    return {{}, std::move(text), std::move(full), 0};
}
Cell number(double value, Unit unit, Source source, double bar_of = 0) {
    return {Value::of(value, unit, virtual_(source)), {}, {}, bar_of};
}
Cell missing(std::string reason, Unit unit = Unit::none) {
    return {Value::missing(std::move(reason), unit), {}, {}, 0};
}

const char* const flash_name =
    "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, "
    "false, cutlass::bfloat16_t, "
    "pytorch_flash::Flash_kernel_traits<64, 128, 128, 4, cutlass::bfloat16_t> >, false, true, false, false, "
    "true, true, false, "
    "false>(pytorch_flash::Flash_fwd_params)";

Table implementations() {
    Table table{"implementations",
                "Seven ways to compute the same attention",
                "One row each; what LibTorch refused stays in the table.",
                {},
                {}};
    table.columns = {
        {"name", "implementation", "", "", false},
        {"launches", "launches", "Kernels, copies and library calls of one iteration, together.", "", true},
        {"copies", "copied", "Bytes of device-to-device copies in one iteration.", "", true},
        {"registers", "registers", "Registers per thread of the kernel that dominates.", "", true},
        {"shared", "shared memory", "Shared memory of one CTA of that kernel, static and dynamic.", "", true},
        {"theoretical_occupancy", "theoretical occupancy",
         "Warps that fit on an SM, of its maximum. It does not tell how many are active.",
         "64 warps of an SM", true},
        {"limiter", "limited by", "What runs out first on the SM.", "", false},
        {"peak_memory", "peak memory", "The allocator's peak of allocated bytes, inputs included.", "", true},
        {"duration", "time", "Duration of one iteration on the GPU.", "", true}};
    const std::string no_time = "not collected: nothing ran, a virtual GPU has no time";
    const std::string library = "chosen by the library on a real GPU";
    const auto row = [&](std::string name, double launches, double copied, Cell registers, Cell shared,
                         Cell occupancy, std::string limiter, double peak) {
        Row result;
        result.id = name;
        result.cells = {words(name),
                        number(launches, Unit::count, Source::trace),
                        number(copied, Unit::bytes, Source::trace),
                        registers,
                        shared,
                        occupancy,
                        limiter.empty() ? missing(library) : words(limiter),
                        number(peak, Unit::bytes, Source::reported),
                        missing(no_time, Unit::nanoseconds)};
        return result;
    };
    const auto registers = [](double count) { return number(count, Unit::registers, Source::binary); };
    const auto shared = [](double bytes) { return number(bytes, Unit::bytes, Source::binary); };
    const auto warps = [](double count) {
        return Cell{Value::of(count / 64 * 100, Unit::percent, virtual_(Source::computed),
                              std::to_string(static_cast<int>(count)) + " warps / 64 warps"),
                    {},
                    {},
                    100};
    };
    table.rows = {
        row("naive", 6, 268435456, missing(library), missing(library), missing(library), "", 973078528),
        row("naive_inplace", 5, 0, missing(library), missing(library), missing(library), "", 704643072),
        row("sdpa_math", 20, 0, registers(32), shared(1088), warps(64), "threads", 1778384896),
        row("sdpa_flash", 1, 0, registers(255), shared(49152), warps(8), "registers", 67633152),
        row("sdpa_efficient", 1, 0, registers(168), shared(31744), warps(16), "registers", 67108864)};
    table.rows[3].status = RowStatus::best;
    table.rows.push_back(
        {"sdpa_cudnn",
         RowStatus::refused,
         "cuDNN attention does not support this configuration: head_dim should be a multiple of 8.",
         {words("sdpa_cudnn")}});
    table.rows.push_back(
        row("sdpa_auto", 1, 0, registers(255), shared(49152), warps(8), "registers", 67633152));
    table.rows.back().note = "LibTorch chose flash.";
    return table;
}

Finding occupancy_finding() {
    Finding finding;
    finding.id = "low-occupancy-by-design";
    finding.subject = "sdpa_flash";
    finding.severity = Severity::good;
    finding.claim = "sdpa_flash runs at 12.5 % occupancy by design: registers limit it to 2 CTAs per SM.";
    finding.evidence = {
        {"theoretical occupancy",
         Value::of(12.5, Unit::percent, virtual_(Source::computed), "2 CTAs x 4 warps / 64 warps"),
         "100 % = 64 warps per SM"},
        {"registers per thread", Value::of(255, Unit::registers, virtual_(Source::binary)), "65,536 per SM"},
        {"tensor pipe", Value::missing("needs hardware counters", Unit::percent), "60 % would settle it"}};
    finding.counter_evidence = {
        "The scores stay in registers: nothing of the 268,435,456 bytes of the score matrix goes to DRAM.",
        "Whether the tensor pipe is busy was not measured."};
    finding.next_step = "attnscope attention --device auto --only sdpa_flash";
    finding.nsight_compute_would_say =
        "\"OPT Est. Local Speedup: 87.5%\": its rule takes 1 - 8/64 warps for the possible gain, and does "
        "not look at the tensor pipe.";
    return finding;
}

Section kernels() {
    Section section{"kernels", "Kernels", "Each implementation's kernels in order of launch.", {}, {}};
    Table table{"kernels-sdpa_flash", "Kernels of sdpa_flash", "One row per kernel.", {}, {}};
    table.columns = {{"name", "kernel", "Short name; the full one on demand.", "", false},
                     {"launches", "launches", "", "", true},
                     {"grid", "grid", "", "", false},
                     {"block", "block", "", "", false},
                     {"registers", "registers", "", "", true},
                     {"shared", "shared memory", "", "", true},
                     {"occupancy", "occupancy", "", "64 warps of an SM", true}};
    table.rows = {{"k1",
                   RowStatus::normal,
                   "",
                   {words("flash_fwd_kernel<64, 128x128, 4 warps, bf16, causal>", flash_name),
                    number(1, Unit::count, Source::trace), words("8 x 8 x 16"), words("128"),
                    number(255, Unit::registers, Source::binary), number(49152, Unit::bytes, Source::binary),
                    number(12.5, Unit::percent, Source::computed, 100)}}};
    // The same kernel a second time: its full name is told once.
    Table again = table;
    again.id = "kernels-sdpa_auto";
    again.title = "Kernels of sdpa_auto";
    section.tables = {table, again};
    return section;
}

/// Sentences with a number each.
Section choice() {
    Section section{"choice", "Backend choice", "LibTorch's own answers.", {}, {}};
    Table table{"choice-1", "sdpa_auto: flash", "query, key and value bf16[8,16,1024,60].", {}, {}};
    table.columns = {{"backend", "backend", "", "", false},
                     {"answer", "LibTorch's answer", "It stops at the first reason.", "", false},
                     {"hidden", "allocated around its kernel", "", "", false}};
    table.rows = {{"flash",
                   RowStatus::normal,
                   "",
                   {words("flash"),
                    words("chosen. Around its kernel query, key and value are copied: 50,331,648 bytes."),
                    number(50331648, Unit::bytes, Source::reported)}},
                  {"cudnn",
                   RowStatus::normal,
                   "",
                   {words("cudnn"),
                    words("refused: head_dim should be a multiple of 8. With a head dimension of 64 it would "
                          "take the call."),
                    missing("it does not run")}}};
    section.tables = {table};
    return section;
}

Chart::Point point(std::string label, std::string series, Value x, Value y = {}, std::string note = {}) {
    const bool measured = x && x.provenance.ground != Ground::virtual_gpu;
    return {std::move(label), std::move(series), std::move(x), std::move(y), measured, std::move(note), {}};
}

Chart chart(const char* id, const char* title, const char* sentence, Chart::Kind kind = Chart::Kind::bars) {
    Chart out;
    out.id = id, out.title = title, out.sentence = sentence, out.kind = kind;
    return out;
}

/// A chart of each kind; something is missing, measured, hatched, in groups.
Section charts() {
    Section section{"pictures", "Pictures", "", {}, {}};
    const auto occupancy = [](double of) { return Value::of(of, Unit::percent, virtual_(Source::computed)); };
    const auto size = [](double of, Source source = Source::model) {
        return Value::of(of, Unit::bytes, virtual_(source));
    };
    const auto time = [](double of, Ground ground) {
        return Value::of(of, Unit::nanoseconds, {Source::trace, ground});
    };
    Chart bars =
        chart("occupancy", "Theoretical occupancy", "Low occupancy is where the work stays on the chip.");
    bars.x = {"theoretical occupancy", Unit::percent, 0, 100, "the SM's 64 warps", false};
    bars.points = {point("sdpa_math", "theoretical", occupancy(100)),
                   point("sdpa_flash", "theoretical", occupancy(12.5), {}, "8 of 64 warps"),
                   point("sdpa_efficient", "theoretical", occupancy(25)),
                   point("sdpa_cudnn", "theoretical",
                         Value::missing("chosen by the library on a real GPU", Unit::percent))};
    for (size_t i = 0; i < bars.points.size(); ++i) bars.points[i].group = i == 0 ? "unfused" : "fused";

    Chart stacked = chart("bytes", "Where the bytes go", "The score matrix goes through memory.",
                          Chart::Kind::stacked_bars);
    stacked.x = {"bytes", Unit::bytes, 0, 0, "one axis for all", false};
    stacked.shaded = "score matrix";
    stacked.series = {"score matrix", "q, k, v, o"};
    stacked.points = {point("sdpa_math", "q, k, v, o", size(469762048)),
                      point("sdpa_math", "score matrix", size(5905580032)),
                      point("sdpa_math", "", size(6375342080), {}, "20 launches"),
                      point("sdpa_flash", "q, k, v, o", size(67108864))};

    Chart scatter = chart("occupancy-throughput", "Occupancy against throughput",
                          "The lowest occupancy is the fastest.", Chart::Kind::scatter);
    scatter.x = {"theoretical occupancy", Unit::percent, 0, 100, "the SM's 64 warps", false};
    scatter.y = {"throughput", Unit::flop_per_second, 0, 0, "useful FLOPs / time", true};
    const auto speed = [](double of, Ground ground) {
        return Value::of(of, Unit::flop_per_second, {Source::computed, ground});
    };
    scatter.points = {point("sdpa_math", "bound", occupancy(62.5), speed(4.33e12, Ground::virtual_gpu)),
                      point("sdpa_flash", "bound", occupancy(12.5), speed(312e12, Ground::virtual_gpu)),
                      point("sdpa_flash", "published", occupancy(12.5), speed(117e12, Ground::imported)),
                      point("sdpa_cudnn", "bound", Value::missing("chosen by the library on a real GPU"),
                            speed(312e12, Ground::virtual_gpu))};
    scatter.points[2].measured = true;
    scatter.lines = {{"bf16 tensor cores", speed(312e12, Ground::virtual_gpu), 0, 312e12, 100, 312e12}};

    Chart dots =
        chart("prediction", "Predicted against measured", "Two orders of magnitude.", Chart::Kind::dots);
    dots.x = {"time", Unit::nanoseconds, 0, 0, "one axis for all", true};
    dots.y = {"bound / time", Unit::percent, 0, 0, "how much of its roofs it reaches", false};
    dots.points = {point("sdpa_math", "bound", time(3963070, Ground::virtual_gpu)),
                   point("sdpa_math", "published", time(7239000, Ground::imported), occupancy(54.7)),
                   point("sdpa_flash", "bound", time(55063.7, Ground::virtual_gpu)),
                   point("sdpa_flash", "published", time(146800, Ground::imported), occupancy(37.5))};

    Chart lanes = chart("timeline", "Timeline", "One launch against two.", Chart::Kind::lanes);
    lanes.x = {"since the first launch", Unit::nanoseconds, 0, 900, "one axis for all", false};
    lanes.y = {"how long", Unit::nanoseconds, 0, 0, "", false};
    lanes.points = {
        point("naive", "matrix product", time(0, Ground::imported), time(400, Ground::imported)),
        point("naive", "softmax", time(450, Ground::imported), time(450, Ground::imported), "312 launches"),
        point("sdpa_flash", "attention", time(0, Ground::imported), time(146, Ground::imported))};

    const Chart none = chart("none", "Left out", "Nothing was measured.");
    section.charts = {bars, stacked, scatter, dots, lanes, none};
    return section;
}

Table methods() {
    Table table{"methods", "How the numbers were made", "Each quantity, its formula, its source.", {}, {}};
    table.columns = {{"quantity", "quantity", "", "", false},
                     {"formula", "formula", "", "", false},
                     {"source", "source", "", "", false}};
    table.rows = {{"occupancy",
                   RowStatus::normal,
                   "",
                   {words("theoretical occupancy"), words("resident CTAs x warps per CTA / warps of an SM"),
                    words("cuda_occupancy.h")}},
                  {"registers",
                   RowStatus::normal,
                   "",
                   {words("registers per thread"), words("EIATTR_REGCOUNT"), words("the cubin of sm_80")}}};
    return table;
}

}  // namespace

Report sample_report() {
    Report report;
    report.title = "Attention: bf16, 8 x 16 x 1024 x 64, causal, forward";
    report.predicted = true;
    report.banner =
        "Nothing was measured: no GPU was used. Launches, registers, shared memory and occupancy are exact "
        "for an A100-SXM4-80GB; times are not known.";
    report.exact = {"kernels, grids, blocks and copies that LibTorch launches",
                    "registers, shared memory and theoretical occupancy, from the cubin for sm_80"};
    report.not_exact = {"times, cache hits, achieved occupancy: they need a real GPU",
                        "kernels that cuBLAS and cuDNN would choose"};
    report.strip = {{"GPU", "A100-SXM4-80GB (virtual)"},
                    {"torch", "2.11.0"},
                    {"CUDA", "13.0"},
                    {"shape", "8 x 16 x 1024 x 64 bf16, causal"},
                    {"date", "2026-11-30"}};
    report.answer = {
        "sdpa_flash needs one kernel and 67.6 MB where sdpa_math needs 20 launches and 1,778.4 MB.",
        "It runs at 12.5 % occupancy by design: registers limit it to 2 CTAs, 8 of 64 warps.",
        "Unforced, LibTorch chooses flash here."};
    report.implementations = implementations();
    report.notices = {
        {NoticeLevel::data_loss, "records-dropped", "3 kernel records were dropped.",
         "run again with ATTNSCOPE_BUFFER=64MB", 3},
        {NoticeLevel::warning, "virtual-read", "The program read memory that nothing computed.", "", 1},
        {NoticeLevel::info, "library-calls", "2 cuBLAS calls have no kernels of their own here.", "", 1}};
    report.findings = {occupancy_finding()};
    for (int i = 2; i <= 9; ++i) {
        Finding finding;
        finding.id = i == 2 ? "masked-fill-copy" : "one-kernel-instead-of-many";
        finding.subject = "naive";
        finding.severity = i == 2 ? Severity::problem : i % 2 ? Severity::warning : Severity::info;
        finding.claim =
            "naive copies the whole score matrix once before it masks it (" + std::to_string(i) + ").";
        finding.evidence = {{"copied", Value::of(268435456, Unit::bytes, virtual_(Source::trace)),
                             "0 bytes in naive_inplace"}};
        finding.counter_evidence = {
            "A caller that needs the scores afterwards pays for the copy in any case."};
        finding.next_step = "Use masked_fill_ where nothing else reads the scores.";
        report.findings.push_back(finding);
    }
    report.sections = {charts(), choice(), kernels()};
    report.cannot_tell = {"Whether the tensor pipe is busy: hardware counters were not read.",
                          "Which kernels cuBLAS chooses: only the library on a real GPU knows."};
    report.checks_passed = {{"no record was dropped", "31 of 31 launches accounted for"},
                            {"occupancy agrees", "calculator and driver stand-in"}};
    report.methods = methods();
    report.environment = {{"attnscope", "0.1.0"}, {"libtorch", "2.11.0"}, {"host", "debian 12, x86_64"}};
    report.commands = {
        "attnscope attention --device virtual:A100-SXM4-80GB --shape 8,16,1024,64 --dtype bf16 --causal -o "
        "out",
        "attnscope report out/run --format html"};
    return report;
}

Report measured_report() {
    Report report = sample_report();
    report.predicted = false;
    report.banner = "Measured on H200: counters in 1 pass, clocks not locked.";
    report.exact.clear();
    report.not_exact.clear();
    report.notices.insert(
        report.notices.begin(),
        {NoticeLevel::error, "counters-permission",
         "Reading hardware counters is not permitted to this user on 2 of 3 GPUs.",
         "load the driver with NVreg_RestrictProfilingToAdminUsers=0, or run as root", 1, true});
    const std::vector<double> times{4120000, 3980000, 9500000, 412345, 561000, 0, 413001};
    for (size_t i = 0; i < report.implementations.rows.size(); ++i) {
        Row& row = report.implementations.rows[i];
        for (Cell& cell : row.cells) cell.value.provenance.ground = Ground::real;
        if (row.cells.size() > 8)
            row.cells[8].value = Value::of(times[i], Unit::nanoseconds, {Source::counter, Ground::real});
    }
    // One value each: of a GPU, of a fixture file, and absent.
    Table& table = report.implementations;
    table.columns.insert(
        table.columns.begin() + 1,
        {"dram_bytes", "DRAM bytes", "Bytes that the kernels moved to and from DRAM, counted.", "", true});
    for (size_t i = 0; i < table.rows.size(); ++i) {
        Cell cell = missing("counters need permission", Unit::bytes);
        if (i == 3) cell.value = Value::of(71303168, Unit::bytes, {Source::counter, Ground::real});
        if (i == 4) cell.value = Value::of(69206016, Unit::bytes, {Source::counter, Ground::fixture});
        table.rows[i].cells.insert(table.rows[i].cells.begin() + 1, cell);
    }
    return report;
}

Report large_report() {
    Report report = sample_report();
    report.sections.resize(1);
    Section section{"kernels", "Kernels", "", {}, {}};
    for (int implementation = 0; implementation < 7; ++implementation) {
        Table table = kernels().tables.front();
        table.id += std::to_string(implementation);
        const Row first = table.rows.front();
        for (int kernel = 1; kernel < 30; ++kernel) {
            table.rows.push_back(first);
            table.rows.back().cells[0].full_text += "#" + std::to_string(kernel);
            table.rows.back().cells[4].value.number = 32 + kernel;
        }
        section.tables.push_back(std::move(table));
    }
    report.sections.push_back(std::move(section));
    return report;
}

Report missing_report() {
    Report report = sample_report();
    const auto lose = [](Table& table) {
        for (Row& row : table.rows)
            for (size_t c = 1; c < row.cells.size(); ++c)
                row.cells[c] = missing(c % 2 ? "not in the record" : "needs a GPU", row.cells[c].value.unit);
    };
    lose(report.implementations);
    for (Finding& finding : report.findings)
        for (Evidence& evidence : finding.evidence) evidence.value = Value::missing("not in the record");
    for (Section& section : report.sections) {
        for (Table& table : section.tables) lose(table);
        for (Chart& chart : section.charts) chart.points.clear();
    }
    return report;
}

Report hostile_report(const std::string& text) {
    Report report = sample_report();
    const auto poison_facts = [&](std::vector<Fact>& facts) {
        for (Fact& fact : facts) fact = {text, text};
    };
    const auto poison_table = [&](Table& table) {
        table.title = table.sentence = table.id = text;
        for (Column& column : table.columns) column = {text, text, text, text, column.numeric};
        for (Row& row : table.rows) {
            row.id = row.note = text;
            for (Cell& cell : row.cells) {
                if (!cell.text.empty()) cell.text = text;
                if (!cell.full_text.empty()) cell.full_text = text + "full";
                if (!cell.value.absent.empty()) cell.value.absent = text;
                cell.value.formula = text;
            }
        }
    };
    report.title = report.banner = text;
    for (auto* list :
         {&report.exact, &report.not_exact, &report.answer, &report.cannot_tell, &report.commands})
        for (std::string& line : *list) line = text;
    poison_facts(report.strip);
    poison_facts(report.checks_passed);
    poison_facts(report.environment);
    poison_table(report.implementations);
    poison_table(report.methods);
    for (Notice& notice : report.notices) notice.code = notice.message = notice.remedy = text;
    for (Finding& finding : report.findings) {
        finding.id = finding.subject = finding.claim = finding.next_step = finding.nsight_compute_would_say =
            text;
        for (Evidence& evidence : finding.evidence) {
            evidence.label = evidence.compared_with = evidence.value.formula = text;
            if (!evidence.value.absent.empty()) evidence.value.absent = text;
        }
        for (std::string& line : finding.counter_evidence) line = text;
    }
    for (Section& section : report.sections) {
        section.id = section.title = section.sentence = text;
        for (Table& table : section.tables) poison_table(table);
        for (Chart& chart : section.charts) {
            chart.id = chart.title = chart.sentence = chart.shaded = text;
            for (Chart::Axis* axis : {&chart.x, &chart.y}) axis->title = axis->scale = text;
            for (Chart::Line& line : chart.lines) line.label = text;
            for (std::string& series : chart.series) series = text;
            for (Chart::Point& p : chart.points) {
                p.label = p.series = p.note = p.group = text;
                for (Value* value : {&p.x, &p.y})
                    if (!value->absent.empty()) value->absent = text;
            }
        }
    }
    return report;
}

}  // namespace attnscope::test
