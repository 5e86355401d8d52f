import Database

/// The migrations of verification: the files of the folder `Migrations`, in the order of their names.
enum VerificationMigrations {
    static let all = EmbeddedFiles.Migrations.all.map { Migration(name: $0.name, sql: $0.text.description) }
}
