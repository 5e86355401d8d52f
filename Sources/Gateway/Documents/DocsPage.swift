import Cryptography
import Foundation
import JSONText

/// The OpenAPI document as an HTML page: the guide first, then the operations by task, with a search and a command for
/// each. It loads nothing, and fits a phone. Without its script it has no search.
struct DocsPage: Sendable {
    /// The page, in UTF-8.
    let bytes: [UInt8]
    /// The value of `Content-Security-Policy`: it allows this one style sheet, this one script and nothing else.
    static let policy =
        "default-src 'none'; style-src '\(digest(style))'; script-src '\(digest(script))'; base-uri 'none'; "
        + "frame-ancestors 'none'"

    /// - Parameters:
    ///   - document: the document that ``OpenAPIDocument`` makes.
    ///   - introduction: the topics of the guide's pages, as HTML.
    init(_ document: JSONValue, introduction: String = "") {
        bytes = Array(Self.html(Self.inlined(document, document), introduction).utf8)
    }

    private static func digest(_ text: String) -> String {
        "sha256-" + Data(SHA256.digest(Array(text.utf8))).base64EncodedString()
    }

    /// The style sheet of this page and of the guide. It is the only one that ``policy`` allows.
    static let style = """
        body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:0 auto;padding:1rem;color:#1b1f24;background:#fff}
        h2{margin:2rem 0 .5rem}code,pre{font:14px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
        pre{background:#f3f4f6;padding:.6rem;border-radius:.4rem;white-space:pre-wrap}
        details{border:1px solid #d5d9de;border-radius:.4rem;margin:.4rem 0;padding:.5rem .7rem}
        summary{cursor:pointer}summary b{display:inline-block;min-width:4.2rem}ul{padding-left:1.2rem;margin:.2rem 0}
        table{border-collapse:collapse}th,td{border:1px solid #d5d9de;padding:.3rem .5rem;text-align:left}
        div{overflow-x:auto}small{color:#57606a}.command{user-select:all}
        input{font:inherit;color:inherit;background:transparent;border:1px solid #767d86;border-radius:.4rem;padding:.4rem;
        width:100%;box-sizing:border-box}
        @media(prefers-color-scheme:dark){body{color:#e6e9ec;background:#14171a}pre{background:#20252a}
        details,th,td{border-color:#3a4149}small{color:#9aa4ae}a{color:#7db4ff}}
        """

    /// The search: it hides each operation that does not have all words, and each task without an operation.
    private static let script = """
        const find = document.getElementById('find')
        const operations = [...document.querySelectorAll('details')].map(e => [e, e.textContent.toLowerCase()])
        find.addEventListener('input', () => {
            const words = find.value.toLowerCase().split(/\\s+/)
            for (const [e, text] of operations) e.hidden = !words.every(word => text.includes(word))
            for (const e of document.querySelectorAll('section')) e.hidden = !e.querySelector('details:not([hidden])')
            const count = operations.filter(([e]) => !e.hidden).length
            document.getElementById('found').textContent = `${count} of ${operations.length} operations`
        })
        find.closest('p').hidden = false
        for (const e of document.querySelectorAll('.command')) e.textContent = e.textContent.replace('$api', location.origin)
        """

    private static func html(_ document: JSONValue, _ introduction: String) -> String {
        let operations = operations(of: document)
        let tasks = (document["tags"]?.arrayValue ?? []).filter { task in
            operations.contains { $0.task == task["name"] }
        }
        let sections = tasks.map { task in
            let own = operations.filter { $0.task == task["name"] }
            return "<section><h2 id=\"\(anchor(task))\">\(text(task["name"]))</h2>\(blocks(task["description"]))\n"
                + own.map { operation($0.method, $0.path, $0.value) }.joined() + "</section>\n"
        }
        let links = tasks.map { "<a href=\"#\(anchor($0))\">\(text($0["name"]))</a>" }
        let title = text(document["info"]?["title"])
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"/><title>\(title): the API</title>
            <meta name="viewport" content="width=device-width, initial-scale=1"/><style>\(style)</style></head><body><main>
            <h1>\(title)</h1>
            <h2><a href="/docs/guide/README">The guide</a></h2>
            \(introduction)
            <h2>The operations</h2>
            \(blocks(document["info"]?["description"]))
            <p>The commands take <code>$token</code>, such as the <code>accessToken</code> of a sign-in, and without the script
            of this page <code>$api</code>, the address of this server. For programs:
            <a href="/openapi.json">openapi.json</a>.</p>
            <p>\(links.joined(separator: " · "))</p>
            <p hidden="hidden"><label>Search the operations, their members and their error codes
            <input id="find" type="search"/></label> <small id="found" role="status"></small></p>
            \(sections.joined())</main><script>\(script)</script></body></html>

            """
    }

    private struct Operation {
        let task: JSONValue?
        let method: String
        let path: String
        let value: JSONValue
    }

    /// By path, and by method from reading to deleting.
    private static func operations(of document: JSONValue) -> [Operation] {
        (document["paths"]?.objectValue ?? [:]).sorted { $0.key < $1.key }.flatMap { path, item in
            ["get", "post", "put", "patch", "delete"].compactMap { method in
                item[method].map {
                    Operation(task: $0["tags"]?.arrayValue?.first, method: method, path: path, value: $0)
                }
            }
        }
    }

    private static func anchor(_ task: JSONValue) -> String {
        "task-" + text(task["name"]).lowercased().replacing(" ", with: "-")
    }

    private static func operation(_ method: String, _ path: String, _ operation: JSONValue) -> String {
        let id = text(operation["operationId"])
        var parts = [
            "<details id=\"\(id)\"><summary><b>\(method.uppercased())</b> ",
            "<code>\(escaped(path))</code><br/>\(line(operation["summary"]))</summary>",
            "<p><small>\(caller(of: operation))</small></p>",
        ]
        if operation["description"] != operation["summary"] { parts.append(blocks(operation["description"])) }
        let parameters = operation["parameters"]?.arrayValue ?? []
        if !parameters.isEmpty {
            let items = parameters.map { parameter in
                // The parameter's description replaces the one of its type.
                let schema = parameter["schema"]?.with("description", parameter["description"] ?? "")
                return member(
                    "\(text(parameter["name"])) <small>in \(text(parameter["in"]))</small>", schema,
                    parameter["required"] == true)
            }
            parts.append("<h3>Parameters</h3><ul>\(items.joined())</ul>")
        }
        if let media = operation["requestBody"]?["content"]?["application/json"] {
            parts.append("<h3>Body</h3>\(content(media))")
        }
        parts.append("<pre class=\"command\">\(escaped(command(method, path, operation)))</pre>")
        parts.append("<h3>Answers</h3><ul>\(answers(operation))</ul></details>\n")
        return parts.joined()
    }

    /// A shell command that calls the operation, with the examples of its parameters and its body.
    private static func command(_ method: String, _ path: String, _ operation: JSONValue) -> String {
        let examples = (operation["parameters"]?.arrayValue ?? []).filter { $0["in"] == "path" }
        let address = examples.reduce(path) { path, parameter in
            path.replacing("{\(text(parameter["name"]))}", with: parameter["example"]?.stringValue ?? "")
        }
        var command = "curl -X \(method.uppercased()) \"$api\(address)\""
        let callers = operation["security"]?.arrayValue ?? []
        if !callers.isEmpty, !callers.contains([:]) {
            command += " -H \"Authorization: Bearer $token\""
        }
        if let example = operation["requestBody"]?["content"]?["application/json"]?["example"] {
            let body = String(decoding: CanonicalJSON.bytes(of: example), as: UTF8.self)
            let quoted = body.replacing("'", with: "'\\''")
            command += " -H 'Content-Type: application/json' -d '\(quoted)'"
        }
        return command
    }

    private static func caller(of operation: JSONValue) -> String {
        let choices = operation["security"]?.arrayValue ?? []
        let names = choices.compactMap { $0.objectValue?.keys.first }
        let words = [
            "accessToken": "an access token", "recoveryToken": "a recovery token",
            "operatorKey": "the operator's key",
        ]
        if names.isEmpty { return "Needs no token." }
        let wanted = names.map { words[$0] ?? $0 }.joined(separator: " or ")
        return names.count < choices.count ? "Accepts \(wanted), but does not need it." : "Needs \(wanted)."
    }

    private static func answers(_ operation: JSONValue) -> String {
        (operation["responses"]?.objectValue ?? [:]).sorted { $0.key < $1.key }.map { status, response in
            let media = response["content"]?["application/json"]
            return "<li><b>\(escaped(status))</b> \(line(response["description"]))\(media.map(content) ?? "")</li>"
        }.joined()
    }

    private static func content(_ media: JSONValue) -> String {
        let example = media["example"].map {
            "<pre>\(escaped(String(decoding: CanonicalJSON.bytes(of: $0), as: UTF8.self)))</pre>"
        }
        let inner = members(of: media["schema"])
        let words = inner.isEmpty ? "<p><small>\(kind(of: media["schema"]))</small></p>" : "<ul>\(inner)</ul>"
        return words + (example ?? "")
    }

    // MARK: Schemas

    /// The members of an object, of each object to choose from, or of the elements of an array or a map.
    private static func members(of schema: JSONValue?) -> String {
        let required = Set((schema?["required"]?.arrayValue ?? []).compactMap(\.stringValue))
        let own = (schema?["properties"]?.objectValue ?? [:]).sorted { $0.key < $1.key }.map { name, schema in
            member("<code>\(escaped(name))</code>", schema, required.contains(name))
        }
        let choices = (schema?["anyOf"]?.arrayValue ?? []).filter { !members(of: $0).isEmpty }
        let each = choices.map { choice in
            // If the choice is between an object and null, show the object alone.
            choices.count == 1
                ? members(of: choice)
                : "<li><small>one of these</small> \(line(choice["description"]))<ul>\(members(of: choice))</ul></li>"
        }
        let held = [schema?["items"], schema?["additionalProperties"]].compactMap { $0 }.map { members(of: $0) }
        return (own + each + held).joined()
    }

    /// - Parameter name: as HTML.
    private static func member(_ name: String, _ schema: JSONValue?, _ isRequired: Bool) -> String {
        let inner = members(of: schema)
        return "<li>\(name) <small>\(kind(of: schema))\(isRequired ? ", required" : "")"
            + "\(schema?["deprecated"] == true ? ", deprecated" : "")</small> "
            + "\(line(schema?["description"]))\(inner.isEmpty ? "" : "<ul>\(inner)</ul>")</li>"
    }

    /// The type, format and bounds of a schema, in a few words.
    private static func kind(of schema: JSONValue?) -> String {
        if let values = schema?["enum"]?.arrayValue {
            return values.map { "<code>\(text($0))</code>" }.joined(separator: " or ")
        }
        if let choices = schema?["anyOf"]?.arrayValue {
            let isOpen = choices.contains { $0["enum"] != nil } && choices.contains(["type": "string"])
            return choices.map { isOpen && $0 == ["type": "string"] ? "a later value" : kind(of: $0) }
                .joined(separator: " or ")
        }
        let type = schema?["type"]?.stringValue ?? "anything"
        var words = [schema?["format"].map { text($0) } ?? type]
        for (least, most) in [
            ("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"),
            ("minProperties", "maxProperties"),
        ] where schema?["format"] == nil && (schema?[least] != nil || schema?[most] != nil) {
            words.append("\(text(schema?[least]))…\(text(schema?[most]))")
        }
        if type == "array" { words.append("of \(kind(of: schema?["items"]))") }
        if let value = schema?["default"] {
            words.append(
                "(default <code>\(escaped(String(decoding: CanonicalJSON.bytes(of: value), as: UTF8.self)))</code>)")
        }
        return words.joined(separator: " ")
    }

    /// Puts the target of each reference in its place. This ends, since no schema is part of itself.
    private static func inlined(_ value: JSONValue, _ document: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): return .array(elements.map { inlined($0, document) })
        case .object(var members):
            let reference = members["$ref"]?.stringValue
            members["$ref"] = nil
            let own = members.mapValues { inlined($0, document) }
            guard let reference else { return .object(own) }
            let target = reference.split(separator: "/").dropFirst().reduce(document) { $0[String($1)] ?? .null }
            return .object((inlined(target, document).objectValue ?? [:]).merging(own) { $1 })
        default: return value
        }
    }

    /// A value as text that is safe in HTML. It is empty for `nil`, for arrays and for objects.
    private static func text(_ value: JSONValue?) -> String {
        switch value {
        case .string(let text): escaped(text)
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .bool(let value): "\(value)"
        default: ""
        }
    }

    /// A description in Markdown as HTML: `blocks` returns paragraphs, and `line` returns text within a line.
    private static func blocks(_ value: JSONValue?) -> String { markdown(value).html() }
    private static func line(_ value: JSONValue?) -> String { markdown(value).line }
    private static func markdown(_ value: JSONValue?) -> MarkdownText {
        MarkdownText(value?.stringValue ?? "") { _ in nil }
    }

    /// A text that is safe in HTML, also in an attribute.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
