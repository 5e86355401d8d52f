import Database

/// The schema of auth, step by step: the files of the folder `Migrations`, in the order of their names.
enum AuthMigrations {
    static let all = EmbeddedFiles.Migrations.all.map { Migration(name: $0.name, sql: $0.text.description) }
}
