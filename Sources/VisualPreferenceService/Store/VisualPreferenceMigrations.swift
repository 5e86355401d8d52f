import Database

/// The migrations of visual-preference: the files of the folder `Migrations`, in the order of their names.
enum VisualPreferenceMigrations {
    static let all = EmbeddedFiles.Migrations.all.map { Migration(name: $0.name, sql: $0.text.description) }
}
