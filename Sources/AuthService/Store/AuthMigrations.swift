import Database

/// Auth's migrations: the files in the folder `Migrations`, in the order of their names.
enum AuthMigrations {
    static let all = EmbeddedFiles.Migrations.all.map { Migration(name: $0.name, sql: $0.text.description) }
}
