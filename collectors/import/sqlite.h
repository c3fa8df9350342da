#pragma once
// Reads tables of an SQLite file whose schema is somebody else's: every table and column is optional, and
// nothing in the file is run (views, triggers and virtual tables are not looked at).
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::importer {

class Database {
  public:
    /// Never writes, also no journal beside the file. Throws Error when it is no database that can be read.
    explicit Database(const std::filesystem::path& path);

    bool has(std::string_view table) const;
    /// Columns of a table; empty when there is none of the name.
    std::vector<std::string> columns(const std::string& table) const;
    sqlite3* handle() const { return db_.get(); }
    /// No sound table has more rows: a damaged one can lead in circles.
    uint64_t most_rows() const { return bytes_; }

  private:
    struct Close {
        void operator()(sqlite3* db) const { sqlite3_close(db); }
    };
    std::unique_ptr<sqlite3, Close> db_;
    std::vector<std::string> tables_;
    uint64_t bytes_ = 0;  ///< of the file
};

/// The rows of a table, as they lie in the file. A column that the table lacks is absent in every row.
class Rows {
  public:
    Rows(const Database& database, const std::string& table, const std::vector<std::string>& wanted);

    bool next();
    std::optional<int64_t> integer(size_t column) const;
    std::optional<uint64_t> natural(size_t column) const;       ///< nullopt also for negative ones
    std::optional<uint32_t> small(size_t column) const;         ///< nullopt also beyond 2^31
    std::optional<std::string_view> text(size_t column) const;  ///< valid until next()
    bool has_column(size_t column) const { return present_[column] >= 0; }
    uint64_t count() const { return count_; }
    /// Why the rows ended early ("database disk image is malformed"); empty when they did not.
    const std::string& problem() const { return problem_; }

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
    };
    sqlite3* db_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    std::vector<int> present_;  ///< column of the statement, or -1
    uint64_t count_ = 0, most_ = 0;
    std::string problem_;
};

/// Texts of a table id -> value, looked up one by one.
class StringTable {
  public:
    StringTable(const Database& database, const std::string& table);
    std::optional<std::string> find(int64_t id);

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace attnscope::importer
