import Foundation

/// The compiler's requests to a macro program and the responses: JSON texts on standard input and output. Each follows
/// its length in eight bytes, little-endian.
///
/// Source: `lib/ASTGen/Sources/SwiftCompilerPluginMessageHandling/PluginMessages.swift` of swift-syntax, protocol
/// version 7. These types leave out members that this program does not need.
package enum CompilerConversation {
    struct Request: Decodable {
        /// Sent once, before anything else.
        var getCapability: Ignored?
        var expandAttachedMacro: Expansion?

        struct Ignored: Decodable {}
        struct Expansion: Decodable {
            var macro: Macro
            var declSyntax: Syntax
        }
        struct Macro: Decodable { var name: String }
        struct Syntax: Decodable {
            /// The text of the declaration, with its comments and attributes.
            var source: String
            var location: Location?
        }
        struct Location: Decodable {
            var fileName: String
            /// Where `source` begins in the file, in bytes.
            var offset: Int
        }
    }

    struct Reply: Encodable {
        var getCapabilityResult: Capability?
        var expandMacroResult: Expanded?

        struct Capability: Encodable {
            var capability = ["protocolVersion": 7]
        }
        struct Expanded: Encodable {
            var expandedSource: String?
            var diagnostics: [Diagnostic]
        }
        struct Diagnostic: Encodable {
            var message: String
            var severity = "error"
            var position: Position
            var highlights: [Position] = []
            var notes: [Position] = []
            var fixIts: [Position] = []
        }
        struct Position: Encodable {
            var fileName: String
            var offset: Int
        }
    }

    static func answer(_ request: Request) -> Reply {
        guard let expansion = request.expandAttachedMacro else { return Reply(getCapabilityResult: .init()) }
        // `@Field` only gives information to `@Message`, and adds no code itself.
        guard expansion.macro.name == "Message" else {
            return Reply(expandMacroResult: .init(expandedSource: "", diagnostics: []))
        }
        let syntax = expansion.declSyntax
        do {
            let message = try MessageDeclaration(syntax.source)
            return Reply(expandMacroResult: .init(expandedSource: try message.members(), diagnostics: []))
        } catch {
            let place = Reply.Position(
                fileName: syntax.location?.fileName ?? "", offset: (syntax.location?.offset ?? 0) + error.offset)
            return Reply(
                expandMacroResult: .init(diagnostics: [.init(message: error.message, position: place)]))
        }
    }

    /// Answers requests until the compiler closes the pipe or sends an empty text.
    package static func run() throws {
        while let request = try read() {
            let reply = try JSONEncoder().encode(answer(try JSONDecoder().decode(Request.self, from: request)))
            let length = withUnsafeBytes(of: UInt64(reply.count).littleEndian) { Data($0) }
            try FileHandle.standardOutput.write(contentsOf: length + reply)
        }
    }

    private static func read() throws -> Data? {
        guard let header = try read(8) else { return nil }
        let length = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return length > 0 ? try read(Int(length)) : nil
    }

    private static func read(_ count: Int) throws -> Data? {
        var data = Data()
        while data.count < count {
            guard let more = try FileHandle.standardInput.read(upToCount: count - data.count), !more.isEmpty else {
                return nil
            }
            data += more
        }
        return data
    }
}
