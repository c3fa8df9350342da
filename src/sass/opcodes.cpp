#include "opcodes.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "attnscope/error.h"

namespace attnscope::sass {
namespace {

std::string_view next(std::string_view& rest, char separator) {
    const size_t end = rest.find(separator);
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return part;
}

/// Members of a family have one encoding: make_sass_opcodes.py checks it.
int family_number(int sm) {
    if (sm >= 80 && sm < 90) return 80;
    if (sm >= 100 && sm < 110) return 100;
    if (sm >= 120 && sm < 130) return 120;
    return sm;
}

}  // namespace

class TableParser {
  public:
    TableParser(std::string_view text, const std::string& origin) : rest_(text), origin_(origin) {}

    std::vector<Family> parse() {
        while (!rest_.empty()) {
            ++line_;
            const std::string_view line = next(rest_, '\n');
            if (!line.empty() && line.front() != '#') row(line);
        }
        std::vector<Family> out;
        for (auto& [sm, family] : families_) out.push_back(std::move(family));
        return out;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(origin_ + ", line " + std::to_string(line_) + ": " + what);
    }

    template <class T>
    T number(std::string_view text, int base = 10) const {
        T value{};
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
        if (error != std::errc() || end != text.data() + text.size())
            fail("\"" + std::string(text) + "\" is not a number");
        return value;
    }

    void row(std::string_view line) {
        std::string_view opcode = next(line, '\t');
        const std::string_view mnemonic = next(line, '\t');
        std::string_view families = next(line, '\t');
        if (!opcode.starts_with("0x") || mnemonic.empty() || families.empty())
            fail("expected opcode, mnemonic and families, separated by tabs");
        opcode.remove_prefix(2);
        const auto code = number<uint16_t>(opcode, 16);
        if (code > 0xfff) fail("an opcode has 12 bits");
        while (!families.empty()) add(number<int>(next(families, ' ')), code, mnemonic, line);
    }

    void add(int sm, uint16_t opcode, std::string_view mnemonic, std::string_view bits) {
        const auto [place, fresh] = families_.try_emplace(sm);
        Family& family = place->second;
        if (fresh) {
            family.sm_ = sm;
            family.plain_.fill(Family::kUnknown);
        }
        auto& known = family.mnemonics_;
        auto same =
            std::find_if(known.begin(), known.end(), [&](const Mnemonic& m) { return m.name == mnemonic; });
        if (same == known.end())
            same = known.insert(known.end(), {std::string(mnemonic), class_of(mnemonic)});
        const auto index = static_cast<uint16_t>(same - known.begin());
        if (bits.empty()) {
            if (family.plain_[opcode] != Family::kUnknown) fail("an opcode is given twice for one family");
            family.plain_[opcode] = index;
            return;
        }
        Family::Variant variant{opcode, index, {}, {}};
        while (!bits.empty()) {  // "63=0 72=1"
            std::string_view value = next(bits, ' ');
            const auto bit = number<unsigned>(next(value, '='));
            if (bit > 127 || (value != "0" && value != "1")) fail("a bit looks like 63=0");
            uint64_t& mask = bit < 64 ? variant.mask.low : variant.mask.high;
            uint64_t& wanted = bit < 64 ? variant.value.low : variant.value.high;
            mask |= uint64_t{1} << (bit % 64);
            if (value == "1") wanted |= uint64_t{1} << (bit % 64);
        }
        family.variants_.push_back(variant);
    }

    std::string_view rest_;
    const std::string& origin_;
    size_t line_ = 0;
    std::map<int, Family> families_;
};

uint16_t Family::find(const Word& word) const {
    const uint16_t index = plain_[word.opcode()];
    if (index != kUnknown || variants_.empty()) return index;
    for (const Variant& v : variants_)
        if (v.opcode == word.opcode() && (word.low & v.mask.low) == v.value.low &&
            (word.high & v.mask.high) == v.value.high)
            return v.mnemonic;
    return kUnknown;
}

std::vector<Family> parse_opcode_table(std::string_view text, const std::string& origin) {
    return TableParser(text, origin).parse();
}

const Family* family_of(int sm) {
    static const std::vector<Family> families = parse_opcode_table(kEmbeddedOpcodes, "sass_opcodes.tsv");
    for (const Family& family : families)
        if (family.sm() == family_number(sm)) return &family;
    return nullptr;
}

unsigned mufu_function(const Word& word) {
    return static_cast<unsigned>(word.high >> 10) & 0xf;  // bits 74 to 77
}

bool branches_to_itself(const Word& word, int sm) {
    // The distance in units of 4 bytes, from the next instruction: -4. It stands at bit 34; from sm_90 on its
    // low 8 bits are at bit 16.
    const uint64_t upper = (word.low >> 34 | word.high << 30) & 0x7fffffffffff;
    const uint64_t lower = (word.low >> 16) & 0xff;
    constexpr uint64_t kAllOnes = 0x7fffffffffff;
    return sm >= 90 ? upper == kAllOnes && lower == 0xfc : upper == (kAllOnes & ~uint64_t{3});
}

}  // namespace attnscope::sass
