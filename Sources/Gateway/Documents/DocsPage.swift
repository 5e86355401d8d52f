import Cryptography
import Foundation
import JSONText

/// The OpenAPI document as an HTML page. It has no script, loads nothing from another host, and fits a phone.
struct DocsPage: Sendable {
    /// The page, in UTF-8.
    let bytes: [UInt8]
    /// The value of `Content-Security-Policy`: it allows this one style sheet and nothing else.
    static let policy = "default-src 'none'; style-src 'sha256-\(digest)'; base-uri 'none'; frame-ancestors 'none'"

    /// - Parameter document: as ``OpenAPIDocument`` makes it.
    init(_ document: JSONValue) { bytes = Array(Self.html(Self.inlined(document, document)).utf8) }

    private static let digest = Data(SHA256.digest(Array(style.utf8))).base64EncodedString()

    /// The style sheet of this page and of the guide. It is the only one that ``policy`` allows.
    static let style = """
        body{font:16px/1.5 system-ui,sans-serif;max-width:56rem;margin:0 auto;padding:1rem;color:#1b1f24;background:#fff}
        h2{margin:2rem 0 .5rem}code,pre{font:14px/1.4 ui-monospace,monospace;overflow-wrap:anywhere}
        pre{background:#f3f4f6;padding:.6rem;border-radius:.4rem;white-space:pre-wrap}
        details{border:1px solid #d5d9de;border-radius:.4rem;margin:.4rem 0;padding:.5rem .7rem}
        summary{cursor:pointer}summary b{display:inline-block;min-width:4.2rem}ul{padding-left:1.2rem;margin:.2rem 0}
        table{border-collapse:collapse}th,td{border:1px solid #d5d9de;padding:.3rem .5rem;text-align:left}
        div{overflow-x:auto}.later{border-style:dashed}small{color:#57606a}
        @media(prefers-color-scheme:dark){body{color:#e6e9ec;background:#14171a}pre{background:#20252a}
        details,th,td{border-color:#3a4149}small{color:#9aa4ae}a{color:#7db4ff}}
        """

    private static func html(_ document: JSONValue) -> String {
        let paths = document["paths"]?.objectValue ?? [:]
        let groups = Dictionary(grouping: paths.keys.sorted()) { path in
            path.split(separator: "/").first.map(String.init) ?? ""
        }
        let sections = groups.sorted { $0.key < $1.key }.map { group, paths in
            "<h2 id=\"\(escaped(group))\">\(escaped(group))</h2>\n"
                + paths.map { operations(at: $0, in: document) }.joined()
        }
        let links = groups.keys.sorted().map { "<a href=\"#\(escaped($0))\">\(escaped($0))</a>" }
        let title = text(document["info"]?["title"])
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"/><title>\(title): the API</title>
            <meta name="viewport" content="width=device-width, initial-scale=1"/><style>\(style)</style></head><body><main>
            <h1>\(title)</h1><p>\(text(document["info"]?["description"]))</p>
            <p>To begin: <a href="/docs/guide/README">the guide</a>. For programs: <a href="/openapi.json">openapi.json</a>.
            \(links.joined(separator: " · "))</p>
            \(sections.joined())</main></body></html>

            """
    }

    private static func operations(at path: String, in document: JSONValue) -> String {
        let item = document["paths"]?[path]?.objectValue ?? [:]
        return ["get", "post", "put", "patch", "delete"].map { method in
            item[method].map { operation(method, path, $0) } ?? ""
        }.joined()
    }

    private static func operation(_ method: String, _ path: String, _ operation: JSONValue) -> String {
        let id = text(operation["operationId"])
        let isLater = operation["responses"]?["501"] != nil
        var parts = [
            "<details id=\"\(id)\"\(isLater ? " class=\"later\"" : "")><summary><b>\(method.uppercased())</b> ",
            "<code>\(escaped(path))</code><br/>\(text(operation["summary"]))</summary>",
            "<p><small>\(caller(of: operation))</small></p>",
        ]
        if operation["description"] != operation["summary"] { parts.append("<p>\(text(operation["description"]))</p>") }
        let parameters = operation["parameters"]?.arrayValue ?? []
        if !parameters.isEmpty {
            let items = parameters.map { parameter in
                // What is said of the parameter goes before what is said of its type.
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
        parts.append("<h3>Answers</h3><ul>\(answers(operation))</ul></details>\n")
        return parts.joined()
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
            return "<li><b>\(escaped(status))</b> \(text(response["description"]))\(media.map(content) ?? "")</li>"
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

    /// The members of an object, of each of several objects, or of what an array or a map holds.
    private static func members(of schema: JSONValue?) -> String {
        let required = Set((schema?["required"]?.arrayValue ?? []).compactMap(\.stringValue))
        let own = (schema?["properties"]?.objectValue ?? [:]).sorted { $0.key < $1.key }.map { name, schema in
            member("<code>\(escaped(name))</code>", schema, required.contains(name))
        }
        let choices = (schema?["anyOf"]?.arrayValue ?? []).filter { !members(of: $0).isEmpty }
        let each = choices.map { choice in
            // An object or null is shown as the object.
            choices.count == 1
                ? members(of: choice)
                : "<li><small>one of these</small> \(text(choice["description"]))<ul>\(members(of: choice))</ul></li>"
        }
        let held = [schema?["items"], schema?["additionalProperties"]].compactMap { $0 }.map { members(of: $0) }
        return (own + each + held).joined()
    }

    /// - Parameter name: as HTML.
    private static func member(_ name: String, _ schema: JSONValue?, _ isRequired: Bool) -> String {
        let inner = members(of: schema)
        return "<li>\(name) <small>\(kind(of: schema))\(isRequired ? ", required" : "")</small> "
            + "\(text(schema?["description"]))\(inner.isEmpty ? "" : "<ul>\(inner)</ul>")</li>"
    }

    /// The type, format and bounds of a schema, in a few words.
    private static func kind(of schema: JSONValue?) -> String {
        if let values = schema?["enum"]?.arrayValue {
            return values.map { "<code>\(text($0))</code>" }.joined(separator: " or ")
        }
        if let choices = schema?["anyOf"]?.arrayValue {
            return choices.map { kind(of: $0) }.joined(separator: " or ")
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

    /// With what references lead to in their place. No schema is part of itself.
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

    /// A text that is safe in HTML, also in an attribute.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
