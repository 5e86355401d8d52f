/// `vestibule migrate`: migrates the schemas before the services start.
enum MigrateCommand {
    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, options: ["--state"], mostWords: 1)
        let service = arguments.rest.first
        if let service, !StateFolder.services.contains(service) {
            throw CommandError.usage("\(service) is not a service with a schema")
        }
        try ServiceTables.each(state: arguments["--state"]) { all in
            let asked = all.filter { service == nil || $0.service == service }
            guard !asked.isEmpty else {
                throw CommandError.unavailable("the environment has no connection string of \(service ?? "a service")")
            }
            for tables in asked { say(try tables.migrate()) }
        }
    }
}
