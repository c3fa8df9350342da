#include "nvtx.h"

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

#include "json_line.h"
#include "session.h"

namespace attnscope::collector {
namespace {

constexpr size_t kMaxText = 1 << 20;

struct Domain {
    std::string name;
};
struct RegisteredString {
    std::string text;
};

std::string_view bounded(const char* text) {
    return text == nullptr ? std::string_view() : std::string_view(text).substr(0, kMaxText);
}

/// The event's message as UTF-8 (or whatever bytes the program gave: the JSON writer mends them).
std::string message_of(const nvtxEventAttributes_t* event) {
    if (event == nullptr || event->size < offsetof(nvtxEventAttributes_t, message) + sizeof(event->message))
        return {};
    switch (event->messageType) {
        case NVTX_MESSAGE_TYPE_ASCII:
            return std::string(bounded(event->message.ascii));
        case NVTX_MESSAGE_TYPE_UNICODE:
            return event->message.unicode == nullptr ? std::string() : to_utf8(event->message.unicode);
        case NVTX_MESSAGE_TYPE_REGISTERED: {
            const auto* string = reinterpret_cast<const RegisteredString*>(event->message.registered);
            return string == nullptr ? std::string() : string->text;
        }
        default:
            return {};
    }
}

std::string message_of(const char* text) {
    return std::string(bounded(text));
}
std::string message_of(const wchar_t* text) {
    return text == nullptr ? std::string() : to_utf8(text);
}

std::string_view name_of(const void* domain) {
    return domain == nullptr ? std::string_view()
                             : std::string_view(static_cast<const Domain*>(domain)->name);
}

/// Runs `body(session)` and returns what it says, `otherwise` when nothing is recorded. Nothing is thrown
/// into the program.
template <class Result, class Body>
Result record(Result otherwise, Body body) noexcept {
    try {
        Session* session = Session::get();
        return session != nullptr && session->recording() ? body(*session) : otherwise;
    } catch (const std::exception&) {
        return otherwise;  // out of memory
    }
}

void write_range(Session& session, uint32_t id, uint32_t parent, const char* kind, uint32_t thread,
                 std::string_view name, const void* domain, uint64_t start_ns) {
    std::string line;
    JsonLine json(line, "range");
    json.number("id", id);
    if (parent != 0) json.number("parent", parent);
    json.text("kind", kind)
        .number("thread", thread)
        .text("name", name)
        .known("domain", name_of(domain))
        .number("start_ns", start_ns)
        .end();
    session.file().append(line);
}

void write_range_end(Session& session, uint32_t id, uint64_t end_ns) {
    std::string line;
    JsonLine(line, "range_end").number("id", id).number("end_ns", end_ns).end();
    session.file().append(line);
}

void mark(const void* domain, const std::string& name) {
    record(0, [&](Session& session) {
        ThreadState& thread = session.this_thread();
        session.tell_open(thread);
        std::string line;
        JsonLine json(line, "mark");
        json.text("name", name).known("domain", name_of(domain)).number("thread", thread.thread);
        if (const uint32_t range = session.current_range(thread)) json.number("range", range);
        json.number("time_ns", session.now_ns()).end();
        session.file().append(line);
        return 0;
    });
}

nvtxRangeId_t start(const void* domain, const std::string& name) {
    return record(nvtxRangeId_t{0}, [&](Session& session) {
        ThreadState& thread = session.this_thread();
        session.tell_open(thread);
        const RangeBook::Opened range = session.ranges().open_process_range(session.now_ns());
        write_range(session, range.id, range.parent, "process", thread.thread, name, domain, range.start_ns);
        if (CountersCollection* counters = session.counters())
            counters->range_opened(range.id, name, true, domain, thread.thread);
        return nvtxRangeId_t{range.id};
    });
}

void end(nvtxRangeId_t id) {
    record(0, [&](Session& session) {
        const auto range = static_cast<uint32_t>(id);
        const uint64_t now = session.now_ns();
        if (CountersCollection* counters = session.counters())
            counters->range_closed(range, session.this_thread().thread);
        if (session.ranges().close_process_range(range, now)) write_range_end(session, range, now);
        return 0;
    });
}

int depth_in(const ThreadState& thread, const void* domain) {
    int depth = 0;
    for (const ThreadItem& item : thread.open) depth += item.is_range && item.domain == domain ? 1 : 0;
    return depth;
}

/// NVTX: the level of the range pushed, from 0.
int push(const void* domain, const std::string& name) {
    return record(0, [&](Session& session) {
        ThreadState& thread = session.this_thread();
        const uint32_t parent = session.current_range(thread);
        const uint32_t process_range = session.ranges().innermost();
        const uint32_t id = session.ranges().next_id();
        const int level = depth_in(thread, domain);
        write_range(session, id, parent, "thread", thread.thread, name, domain, session.now_ns());
        session.push_range(thread, id, process_range, domain);
        if (CountersCollection* counters = session.counters())
            counters->range_opened(id, name, false, domain, thread.thread);
        return level;
    });
}

/// NVTX: the level of the range that ends, negative when there is none.
int pop(const void* domain) {
    return record(-1, [&](Session& session) {
        ThreadState& thread = session.this_thread();
        for (size_t i = thread.open.size(); i-- > 0;) {
            if (!thread.open[i].is_range || thread.open[i].domain != domain) continue;
            const int level = depth_in(thread, domain) - 1;
            const uint32_t id = thread.open[i].range;
            const uint64_t now = session.now_ns();
            if (CountersCollection* counters = session.counters()) counters->range_closed(id, thread.thread);
            session.remove(thread, i);
            write_range_end(session, id, now);
            return level;
        }
        return -1;
    });
}

// Handles are never freed: NVTX lets a program use them until it ends.
template <class Text>
nvtxDomainHandle_t create_domain(Text text) noexcept {
    try {
        return reinterpret_cast<nvtxDomainHandle_t>(new Domain{message_of(text)});
    } catch (const std::exception&) {
        return nullptr;
    }
}

template <class Text>
nvtxStringHandle_t register_string(nvtxDomainHandle_t, Text text) noexcept {
    try {
        return reinterpret_cast<nvtxStringHandle_t>(new RegisteredString{message_of(text)});
    } catch (const std::exception&) {
        return nullptr;
    }
}

template <class Text>
void on_mark(Text text) {
    mark(nullptr, message_of(text));
}
template <class Text>
nvtxRangeId_t on_start(Text text) {
    return start(nullptr, message_of(text));
}
template <class Text>
int on_push(Text text) {
    return push(nullptr, message_of(text));
}
int on_pop() {
    return pop(nullptr);
}
void on_domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    mark(domain, message_of(event));
}
nvtxRangeId_t on_domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    return start(domain, message_of(event));
}
void on_domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) {
    end(id);
}
int on_domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    return push(domain, message_of(event));
}
int on_domain_pop(nvtxDomainHandle_t domain) {
    return pop(domain);
}

class Table {
  public:
    Table(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module) {
        if (callbacks.GetModuleFunctionTable(module, &table_, &size_) == 0) table_ = nullptr;
    }
    template <class Implementation, class Function>
    void set(unsigned int id, Function* function) {
        static_assert(std::is_convertible_v<Function*, Implementation>);
        if (table_ != nullptr && id < size_ && table_[id] != nullptr)
            *table_[id] = reinterpret_cast<NvtxFunctionPointer>(function);
    }

  private:
    NvtxFunctionTable table_ = nullptr;
    unsigned int size_ = 0;
};

}  // namespace

int attach_nvtx(NvtxGetExportTableFunc_t get_export_table) {
    const auto* callbacks =
        static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
    if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks) ||
        Session::get() == nullptr)
        return 1;
    Table core(*callbacks, NVTX_CB_MODULE_CORE);
    core.set<nvtxMarkEx_impl_fntype>(NVTX_CBID_CORE_MarkEx, on_mark<const nvtxEventAttributes_t*>);
    core.set<nvtxMarkA_impl_fntype>(NVTX_CBID_CORE_MarkA, on_mark<const char*>);
    core.set<nvtxMarkW_impl_fntype>(NVTX_CBID_CORE_MarkW, on_mark<const wchar_t*>);
    core.set<nvtxRangeStartEx_impl_fntype>(NVTX_CBID_CORE_RangeStartEx,
                                           on_start<const nvtxEventAttributes_t*>);
    core.set<nvtxRangeStartA_impl_fntype>(NVTX_CBID_CORE_RangeStartA, on_start<const char*>);
    core.set<nvtxRangeStartW_impl_fntype>(NVTX_CBID_CORE_RangeStartW, on_start<const wchar_t*>);
    core.set<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd, end);
    core.set<nvtxRangePushEx_impl_fntype>(NVTX_CBID_CORE_RangePushEx, on_push<const nvtxEventAttributes_t*>);
    core.set<nvtxRangePushA_impl_fntype>(NVTX_CBID_CORE_RangePushA, on_push<const char*>);
    core.set<nvtxRangePushW_impl_fntype>(NVTX_CBID_CORE_RangePushW, on_push<const wchar_t*>);
    core.set<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop, on_pop);
    Table domain(*callbacks, NVTX_CB_MODULE_CORE2);
    domain.set<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx, on_domain_mark);
    domain.set<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx, on_domain_start);
    domain.set<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd, on_domain_end);
    domain.set<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx, on_domain_push);
    domain.set<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop, on_domain_pop);
    domain.set<nvtxDomainRegisterStringA_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringA,
                                                      register_string<const char*>);
    domain.set<nvtxDomainRegisterStringW_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringW,
                                                      register_string<const wchar_t*>);
    domain.set<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA, create_domain<const char*>);
    domain.set<nvtxDomainCreateW_impl_fntype>(NVTX_CBID_CORE2_DomainCreateW, create_domain<const wchar_t*>);
    return 1;
}

}  // namespace attnscope::collector
