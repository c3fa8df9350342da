#include "kineto_events.h"

#include <algorithm>

namespace attnscope::importer {
namespace {

constexpr std::string_view kKept[] = {"deviceProperties",    "computeProperties",    "distributedInfo",
                                      "cuda_driver_version", "cuda_runtime_version", "cupti_version",
                                      "hip_driver_version",  "hip_runtime_version"};
constexpr uint32_t kMostUnending = 64;
constexpr size_t kPadding = ByteWindow::kPadding;

class FrameReader {
  public:
    FrameReader(const std::string& name, ByteWindow& bytes,
                const std::function<void(const std::vector<JsonField>&)>& take)
        : name_(name), bytes_(bytes), take_(take) {}

    TraceFrame read() {
        if (bytes_.view().substr(0, 3) == "\xEF\xBB\xBF") bytes_.consume(3);
        const char first = next();
        bytes_.consume(first ? 1 : 0);
        if (first == '[') {
            frame_.has_events_array = true;
            read_events();
        } else if (first == '{') {
            read_members();
        }
        report();
        return std::move(frame_);
    }

  private:
    /// The next character that is no white space, not taken; 0 at the end.
    char next() {
        while (true) {
            JsonText text{bytes_.begin(), bytes_.end()};
            const char c = text.peek();
            bytes_.consume(static_cast<size_t>(text.p - bytes_.begin()));
            if (bytes_.size() > 0) return c;
            if (!bytes_.more()) return 0;
        }
    }

    /// Runs `scan` on the window until it has all that it needs; takes what it read when it is good.
    template <typename Scanner>
    Scan with_whole(const Scanner& scan) {
        while (true) {
            JsonText text{bytes_.begin(), bytes_.end()};
            const Scan result = scan(text);
            if (result == Scan::need_more && bytes_.more()) continue;
            if (result == Scan::ok) consumed_ = static_cast<size_t>(text.p - bytes_.begin());
            if (result == Scan::need_more && bytes_.full()) {
                too_long_ = true;
                return Scan::malformed;
            }
            return result;
        }
    }

    void read_members() {
        while (true) {
            char c = next();
            if (c == ',') {
                bytes_.consume(1);
                continue;
            }
            if (c == '}') {
                closed_ = true;
                return;
            }
            JsonField key, value;
            const Scan got = c == '"' ? with_whole([&](JsonText& text) { return scan_value(text, key); })
                                      : (c ? Scan::malformed : Scan::need_more);
            if (got != Scan::ok) return cut(got);
            const std::string name(key.raw.substr(0, 64));
            bytes_.consume(consumed_);
            if (next() != ':') return cut(bytes_.size() == 0 ? Scan::need_more : Scan::malformed);
            bytes_.consume(1);
            c = next();
            if (name == "traceEvents" && c == '[') {
                frame_.has_events_array = true;
                bytes_.consume(1);
                read_events();
                if (!array_closed_) return;
                continue;
            }
            const Scan taken = with_whole([&](JsonText& text) { return scan_value(text, value); });
            if (taken != Scan::ok) return cut(taken);
            if (std::find(std::begin(kKept), std::end(kKept), name) != std::end(kKept))
                frame_.metadata.emplace_back(name, std::string(value.raw) + std::string(kPadding, '\0'));
            bytes_.consume(consumed_);
        }
    }

    void read_events() {
        while (true) {
            const char c = next();
            if (c == ',') {
                bytes_.consume(1);
            } else if (c == ']') {
                bytes_.consume(1);
                array_closed_ = closed_ = true;
                return;
            } else if (c == '{') {
                fields_.clear();
                const Scan got = with_whole([&](JsonText& text) {
                    fields_.clear();
                    return scan_object(text, fields_, "args");
                });
                if (got == Scan::need_more && !another_event()) return cut(got);
                if (got != Scan::ok) {
                    if (resume()) continue;
                    return;
                }
                ++frame_.events;
                take_(fields_);
                bytes_.consume(consumed_);
            } else if (c == 0 && bytes_.size() == 0) {
                return cut(Scan::need_more);
            } else if (!resume()) {
                return;
            }
        }
    }

    /// An event has no end, but others follow: it is damaged, not the last one of a file that was cut. Each
    /// such event costs a look at all that is in view, so the patience ends.
    bool another_event() {
        return unending_++ < kMostUnending && find_next_record(bytes_.view()) != std::string_view::npos;
    }

    /// Behind damage: goes on at what looks like the next event. False when there is none.
    bool resume() {
        damaged_.add("byte " + std::to_string(bytes_.offset()) + (too_long_ ? " (longer than 64 MiB)" : ""));
        if (too_long_ && unending_++ >= kMostUnending) return false;
        too_long_ = false;
        const uint64_t from = bytes_.offset();
        while (true) {
            const size_t at = find_next_record(bytes_.view());
            if (at != std::string_view::npos) {
                bytes_.consume(at);
                lost_bytes_ += bytes_.offset() - from;
                return true;
            }
            // What a "}" "," "{" may be cut in stays; of the rest nothing is needed again.
            const size_t last = bytes_.view().rfind('}');
            bytes_.consume(last == std::string_view::npos ||
                                   (bytes_.size() - last > 4096 && bytes_.size() > 8192)
                               ? bytes_.size()
                               : last);
            if (bytes_.more()) continue;
            // The end of the array, not of an event: nothing is missing behind it.
            lost_bytes_ += bytes_.offset() + bytes_.size() - from;
            bytes_.consume(bytes_.size());
            closed_ = true;
            return false;
        }
    }

    void cut(Scan why) {
        if (why == Scan::malformed) {
            damaged_.add("byte " + std::to_string(bytes_.offset()));
            lost_bytes_ += bytes_.size();
            closed_ = true;
            return;
        }
        lost_bytes_ += bytes_.size();
    }

    void report() {
        const std::string problem = bytes_.source().problem();
        if (!closed_ || !problem.empty())
            frame_.diagnostics.push_back(
                {DiagnosticLevel::data_loss, "import-cut-short",
                 name_ + ": " + (problem.empty() ? "the file is cut short" : problem) + ": " +
                     std::to_string(frame_.events) + " events up to byte " + std::to_string(bytes_.offset()) +
                     " are here, how many are missing is not known",
                 "copy the file again, or let the profiler finish writing it", 1});
        damaged_.report(frame_.diagnostics, DiagnosticLevel::data_loss, "import-damaged",
                        name_ + ": damaged in " + std::to_string(damaged_.count) + " places, " +
                            std::to_string(lost_bytes_) + " bytes could not be read",
                        "copy the file again; what could be read is reported");
    }

    const std::string& name_;
    ByteWindow& bytes_;
    const std::function<void(const std::vector<JsonField>&)>& take_;
    TraceFrame frame_;
    std::vector<JsonField> fields_;
    size_t consumed_ = 0;
    bool closed_ = false, array_closed_ = false, too_long_ = false;
    Count damaged_;
    uint64_t lost_bytes_ = 0;
    uint32_t unending_ = 0;
};

}  // namespace

const std::string* TraceFrame::find(std::string_view key) const {
    for (const auto& [name, text] : metadata)
        if (name == key) return &text;
    return nullptr;
}

TraceFrame read_trace(const std::string& name, ByteWindow& bytes,
                      const std::function<void(const std::vector<JsonField>&)>& take) {
    return FrameReader(name, bytes, take).read();
}

}  // namespace attnscope::importer
