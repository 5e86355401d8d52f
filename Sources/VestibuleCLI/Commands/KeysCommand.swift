import BusProtocol
import BusRuntime
import Foundation

/// `vestibule keys`: manages the keys that may connect to the bus, and rotates the key that signs access tokens.
///
/// Running programs apply a change of the bus keys within a second.
enum KeysCommand {
    private static let commands = CommandGroup(
        name: "keys",
        usages: ["make", "list", "renew NAME", "revoke PUBLIC-KEY", "allow NAME PUBLIC-KEY", "rotate-signing"])

    static func run(_ words: ArraySlice<String>) throws {
        try commands.checkVerb(of: words)
        let arguments = try Arguments(words, options: ["--state", "--keys"], mostWords: 3)
        if arguments.rest == ["rotate-signing"] { return try rotateSigning(BusAccess(state: arguments["--state"])) }
        let path = try arguments["--keys"] ?? StateFolder(arguments["--state"], create: arguments.rest == ["make"]).keys
        let folder = BusKeyFolder(path: path)
        switch (arguments.rest.first, arguments.rest.count) {
        case ("make", 1): try make(folder)
        case ("list", 1): try list(folder)
        case ("renew", 2):
            // Printed commands repeat the options, so that they act on the same keys.
            let place = ["--keys", "--state"].compactMap { option in
                arguments[option].map { " \(option) \(Self.word($0))" }
            }
            try renew(arguments.rest[1], folder, place.joined())
        case ("revoke", 2): try revoke(arguments.rest[1], folder)
        case ("allow", 3): try allow(arguments.rest[1], arguments.rest[2], folder)
        default:
            throw commands.misuse(of: arguments.rest.first)
        }
    }

    private static func make(_ folder: BusKeyFolder) throws {
        let made = try folder.makeMissing()
        say(made.isEmpty ? "Every program already has a key." : "Made keys for \(made.joined(separator: ", ")).")
    }

    private static func list(_ folder: BusKeyFolder) throws {
        let allowed = try folder.allowed()
        guard !allowed.isEmpty else {
            throw CommandError("no program may connect to the bus: there are no keys in \(folder.path)")
        }
        say(TextTable.text(of: allowed.map { [$0.name, $0.key] }))
    }

    private static func renew(_ name: String, _ folder: BusKeyFolder, _ place: String) throws {
        try known(name)
        let old = try folder.allowed().filter { $0.name == name }.map(\.key)
        let key = try folder.renew(name)
        say("\(name) has a new key, \(key.base64). Restart its replicas one after another. Then revoke the old key:")
        for key in old { say("  vestibule keys revoke \(key)\(place)") }
    }

    /// The text, quoted if a shell would not read it as one word.
    static func word(_ text: String) -> String {
        let plain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+:@%,".contains($0)) }
        return plain && !text.isEmpty ? text : "'" + text.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    private static func revoke(_ key: String, _ folder: BusKeyFolder) throws {
        try folder.change { lines in
            let left = lines.filter { $0.split(separator: " ").last.map(String.init) != key || $0.hasPrefix("#") }
            guard left.count < lines.count else {
                throw CommandError("this key is not in the list: see vestibule keys list")
            }
            return left
        }
        say("Revoked. Within a second, no program accepts this key.")
    }

    private static func allow(_ name: String, _ text: String, _ folder: BusKeyFolder) throws {
        try known(name)
        guard let key = BusKey(base64: text) else {
            throw CommandError.usage("\(text) is not a public key: expected 44 characters of base64")
        }
        try folder.change { $0 + ["\(name) \(key.base64)"] }
        say("Allowed. Within a second, \(name) may connect with this key.")
    }

    private static func rotateSigning(_ bus: BusAccess) throws {
        do {
            let rotated = try BusCommand.waiting { try await BusCommand.asOperator(RotateSigningKey(), bus) }
            say("\(rotated.kid) is published now, and signs access tokens from \(rotated.signsFrom) on.")
        } catch let error as BusError {
            throw CommandError(error)
        }
    }

    private static func known(_ name: String) throws {
        guard BusKeyFolder.names.contains(name) else {
            throw CommandError.usage("there is no \(name): expected \(BusKeyFolder.names.joined(separator: ", "))")
        }
    }
}
