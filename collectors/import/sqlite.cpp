#include "sqlite.h"

#include <algorithm>

#include "attnscope/error.h"

namespace attnscope::importer {
namespace {

constexpr int kMostBytesOfAValue = 16 << 20;

/// A path as a URI's: sqlite reads '?', '#' and '%' otherwise.
std::string uri(const std::filesystem::path& path) {
    std::string out = "file:";
    for (const char c : std::filesystem::absolute(path).string()) {
        if (c == '?' || c == '#' || c == '%') {
            constexpr char hex[] = "0123456789abcdef";
            out += {'%', hex[static_cast<unsigned char>(c) >> 4], hex[c & 15]};
        } else {
            out.push_back(c);
        }
    }
    return out + "?mode=ro&immutable=1";
}

std::string quoted(const std::string& name) {
    std::string out = "\"";
    for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

}  // namespace

Database::Database(const std::filesystem::path& path) {
    sqlite3* db = nullptr;
    const int opened =
        sqlite3_open_v2(uri(path).c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
    db_.reset(db);
    const auto fail = [&] {
        throw Error(path.string() + ": a damaged SQLite database (" +
                    (db ? sqlite3_errmsg(db) : "out of memory") +
                    "): export it again with `nsys export --type sqlite`");
    };
    if (opened != SQLITE_OK) fail();
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, kMostBytesOfAValue);
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0", -1,
                           &statement, nullptr) != SQLITE_OK)
        fail();
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owned(statement, &sqlite3_finalize);
    int step = sqlite3_step(statement);
    for (; step == SQLITE_ROW; step = sqlite3_step(statement))
        if (const unsigned char* name = sqlite3_column_text(statement, 0))
            tables_.emplace_back(reinterpret_cast<const char*>(name));
    if (step != SQLITE_DONE) fail();
    std::error_code unknown;
    bytes_ = std::filesystem::file_size(path, unknown);
}

bool Database::has(std::string_view table) const {
    return std::find(tables_.begin(), tables_.end(), table) != tables_.end();
}

std::vector<std::string> Database::columns(const std::string& table) const {
    std::vector<std::string> out;
    if (!has(table)) return out;
    sqlite3_stmt* statement = nullptr;
    const std::string sql = "SELECT * FROM " + quoted(table) + " LIMIT 0";
    if (sqlite3_prepare_v2(handle(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return out;
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> owned(statement, &sqlite3_finalize);
    for (int i = 0; i < sqlite3_column_count(statement); ++i)
        if (const char* name = sqlite3_column_name(statement, i)) out.emplace_back(name);
    return out;
}

Rows::Rows(const Database& database, const std::string& table, const std::vector<std::string>& wanted)
    : db_(database.handle()), present_(wanted.size(), -1), most_(database.most_rows()) {
    const auto have = database.columns(table);
    std::string list;
    int selected = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
        if (std::find(have.begin(), have.end(), wanted[i]) == have.end()) continue;
        list += (selected > 0 ? ", " : "") + quoted(wanted[i]);
        present_[i] = selected++;
    }
    if (selected == 0) return;
    sqlite3_stmt* statement = nullptr;
    const std::string sql = "SELECT " + list + " FROM " + quoted(table);
    if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
        problem_ = sqlite3_errmsg(db_);
    statement_.reset(statement);
}

bool Rows::next() {
    if (!statement_ || !problem_.empty()) return false;
    const int step = sqlite3_step(statement_.get());
    if (step == SQLITE_ROW && count_ < most_) {
        ++count_;
        return true;
    }
    if (step != SQLITE_DONE)
        problem_ = step == SQLITE_ROW ? "more rows than the file has bytes" : sqlite3_errmsg(db_);
    statement_.reset();
    return false;
}

std::optional<int64_t> Rows::integer(size_t column) const {
    if (present_[column] < 0) return std::nullopt;
    const int type = sqlite3_column_type(statement_.get(), present_[column]);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return std::nullopt;
    return sqlite3_column_int64(statement_.get(), present_[column]);
}

std::optional<uint64_t> Rows::natural(size_t column) const {
    const auto value = integer(column);
    if (!value || *value < 0) return std::nullopt;
    return static_cast<uint64_t>(*value);
}

std::optional<uint32_t> Rows::small(size_t column) const {
    const auto value = integer(column);
    if (!value || *value < 0 || *value > INT32_MAX) return std::nullopt;
    return static_cast<uint32_t>(*value);
}

std::optional<std::string_view> Rows::text(size_t column) const {
    if (present_[column] < 0) return std::nullopt;
    if (sqlite3_column_type(statement_.get(), present_[column]) != SQLITE_TEXT) return std::nullopt;
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), present_[column]));
    if (!text) return std::nullopt;
    return std::string_view(text,
                            static_cast<size_t>(sqlite3_column_bytes(statement_.get(), present_[column])));
}

StringTable::StringTable(const Database& database, const std::string& table) {
    const auto columns = database.columns(table);
    for (const char* needed : {"id", "value"})
        if (std::find(columns.begin(), columns.end(), needed) == columns.end()) return;
    sqlite3_stmt* statement = nullptr;
    const std::string sql = "SELECT value FROM " + quoted(table) + " WHERE id = ?1 LIMIT 1";
    sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &statement, nullptr);
    statement_.reset(statement);
}

std::optional<std::string> StringTable::find(int64_t id) {
    if (!statement_) return std::nullopt;
    sqlite3_reset(statement_.get());
    sqlite3_bind_int64(statement_.get(), 1, id);
    if (sqlite3_step(statement_.get()) != SQLITE_ROW) return std::nullopt;
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), 0));
    if (!text) return std::nullopt;
    return std::string(text, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), 0)));
}

}  // namespace attnscope::importer
