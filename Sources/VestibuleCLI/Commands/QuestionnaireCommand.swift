import Foundation

/// What an author does with a definition before anybody is asked it. The rules are questionnaire's own: its program is
/// started in place of this one, and reads the file where no system runs and no database is.
enum QuestionnaireCommand {
    static func run(_ words: ArraySlice<String>) throws {
        let arguments = try Arguments(words, flags: ["--json"], mostWords: 2)
        guard arguments.rest.count == 2, arguments.rest[0] == "check" else {
            throw CommandError.usage("expected vestibule questionnaire check FILE")
        }
        let program = LocalSystem.binary(LocalSystem.programs["questionnaire"] ?? "questionnaire")
        let flags = arguments.has("--json") ? ["--json"] : []
        let words = [program, "--check-definition", arguments.rest[1]] + flags
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        execv(program, &pointers)
        throw CommandError.unavailable("\(program) cannot be started: \(String(cString: strerror(errno)))")
    }
}
