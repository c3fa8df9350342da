#include "elf.h"

namespace attnscope::binary {
namespace {

constexpr size_t kHeaderSize = 64;
constexpr size_t kSectionEntry = 64;
constexpr size_t kSymbolEntry = 24;

}  // namespace

bool Elf::looks_like_elf(Bytes bytes) {
    constexpr unsigned char kMagic[4] = {0x7f, 'E', 'L', 'F'};
    return bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), kMagic, sizeof kMagic) == 0;
}

Elf::Elf(View view) : view_(view) {
    if (!looks_like_elf(view.bytes())) throw Error(std::string(view.origin()) + ": not an ELF file");
    if (view.size() < kHeaderSize) view.damaged("it ends inside the ELF header");
    if (view.at<uint8_t>(4) != 2 || view.at<uint8_t>(5) != 1)
        throw Error(std::string(view.origin()) +
                    ": not a 64-bit little-endian ELF file, the only kind that CUDA 13 makes");
    os_abi_ = view.at<uint8_t>(7);
    machine_ = view.at<uint16_t>(18);
    const auto table = view.at<uint64_t>(40);
    flags_ = view.at<uint32_t>(48);
    const auto entry = view.at<uint16_t>(58);
    uint64_t count = view.at<uint16_t>(60);
    uint32_t names = view.at<uint16_t>(62);
    if (table == 0) return;  // a program may have none; a cubin always has one
    if (entry != kSectionEntry) view.damaged("its section table has entries of an unknown size");
    // More than 65,279 sections: the true numbers stand in the first entry (a cubin of many kernels has as
    // many).
    if (count == 0) count = view.at<uint64_t>(table + 32);
    if (names == 0xffff) names = view.at<uint32_t>(table + 40);
    if (count > view.size() / kSectionEntry || !view.holds(table, count * kSectionEntry))
        view.damaged("its section table reaches past the end of the file");
    if (count == 0) return;
    if (names >= count) view.damaged("it does not say where its section names are");
    const View name_table(view.slice(view.at<uint64_t>(table + names * kSectionEntry + 24),
                                     view.at<uint64_t>(table + names * kSectionEntry + 32)),
                          view.origin());
    sections_.reserve(static_cast<size_t>(count));
    for (uint64_t i = 0; i < count; ++i) {
        const uint64_t at = table + i * kSectionEntry;
        Section section;
        const auto name = view.at<uint32_t>(at);
        section.type = view.at<uint32_t>(at + 4);
        section.offset = view.at<uint64_t>(at + 24);
        section.size = view.at<uint64_t>(at + 32);
        section.link = view.at<uint32_t>(at + 40);
        section.info = view.at<uint32_t>(at + 44);
        if (name != 0 || name_table.size() > 0) section.name = name_table.text(name);
        sections_.push_back(section);
    }
}

const Section* Elf::section(std::string_view name) const {
    for (const Section& section : sections_)
        if (section.name == name) return &section;
    return nullptr;
}

View Elf::content(const Section& section) const {
    if (section.type == kSectionNoBits) return View({}, view_.origin());
    return View(view_.slice(section.offset, section.size), view_.origin());
}

std::vector<Symbol> Elf::symbols(const Section& table) const {
    if (table.link >= sections_.size()) view_.damaged("a symbol table has no names");
    const View names = content(sections_[table.link]);
    const View entries = content(table);
    std::vector<Symbol> symbols;
    symbols.reserve(entries.size() / kSymbolEntry);
    for (uint64_t at = 0; entries.holds(at, kSymbolEntry); at += kSymbolEntry) {
        Symbol symbol;
        const auto name = entries.at<uint32_t>(at);
        if (name != 0) symbol.name = names.text(name);
        symbol.info = entries.at<uint8_t>(at + 4);
        symbol.other = entries.at<uint8_t>(at + 5);
        symbol.section = entries.at<uint16_t>(at + 6);
        symbols.push_back(symbol);
    }
    return symbols;
}

}  // namespace attnscope::binary
