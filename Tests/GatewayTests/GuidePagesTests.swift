import Testing

@testable import Gateway

@Suite("The guide") struct GuidePagesTests {
    @Test("every block and mark of the subset becomes its element")
    func subset() {
        let source = """
            # Sign *in*

            One `a < b` and **two `c`**
            of [them](other.md#the-end), [other.md](other.md), [not](../far.md).

            - first
              goes on
            - second

            1. one
            2. two

            | code | what |
            |---|---|
            | `x` | y & z |

            ```sh
            echo "<b>" **not strong**
            ```
            """
        let html = MarkdownText(source) {
            guard $0.hasPrefix("other.md") else { return nil }
            return .init(address: "/\($0.replacing(".md", with: ""))", title: "The <em>other</em>")
        }.html()
        #expect(
            html == """
                <h1 id="sign-in">Sign *in*</h1>
                <p>One <code>a &lt; b</code> and <strong>two <code>c</code></strong>
                of <a href="/other#the-end">them</a>, <a href="/other">The <em>other</em></a>, not.</p>
                <ul><li>first
                goes on</li>
                <li>second</li></ul>
                <ol><li>one</li>
                <li>two</li></ol>
                <div tabindex="0"><table><tr><th>code</th><th>what</th></tr>
                <tr><td><code>x</code></td><td>y &amp; z</td></tr></table></div>
                <pre>echo &quot;&lt;b&gt;&quot; **not strong**</pre>
                """)
    }

    @Test(
        "no markup of a source gets through",
        arguments: [
            "<b>", "[x](javascript:alert)", "[<b>](y.md\"onclick=)", "`<b>", "**<b>", "# <b>", "| <b> |", "- <b>",
            "```\n<b>",
        ])
    func markup(source: String) throws {
        let page = try #require(GuidePages(["x": source])["x"])
        let html = String(decoding: page, as: UTF8.self)
        #expect(!html.contains("<b>") && !html.contains("javascript:alert\"") && !html.contains("\"onclick"))
    }

    @Test("each page is well formed and its links reach pages and headings")
    func pages() throws {
        let guide = GuidePages.embedded
        #expect(guide.names.contains("README") && guide.names.count > 1)
        let texts = Dictionary(
            uniqueKeysWithValues: guide.names.map { ($0, String(decoding: guide[$0] ?? [], as: UTF8.self)) })
        for (name, html) in texts {
            var open: [Substring] = []
            for tag in html.matches(of: #/<(/?)([a-z0-9]+)[^>]*?(/?)>/#) {
                if tag.1 == "/" { #expect(open.popLast() == tag.2) } else if tag.3 != "/" { open.append(tag.2) }
            }
            #expect(open.isEmpty, "\(name)")
            #expect(!html.contains(".md</a>"), "\(name)")
            for link in html.matches(of: #/href="/docs/guide/([^"#]+)#?([^"]*)"/#) {
                let target = try #require(texts[String(link.1)], "\(name) leads to \(link.1)")
                #expect(link.2.isEmpty || target.contains("id=\"\(link.2)\""), "\(name) leads to \(link.1)#\(link.2)")
            }
            for link in html.matches(of: #/href="#([^"]*)"/#) {
                #expect(html.contains("id=\"\(link.1)\""), "\(name) leads to #\(link.1)")
            }
        }
    }

    @Test("links lead only to served pages")
    func links() {
        let sources = GuidePages.embeddedSources
        var count = 0
        for (name, source) in sources {
            for link in source.matches(of: #/\]\(([^)]+)\)/#) {
                #expect(GuidePages.link(to: link.1, among: sources) != nil, "\(name) leads to \(link.1)")
                count += 1
            }
        }
        #expect(count > 20)
    }

    @Test func isServedAndAnotherPageIsNotFound() async throws {
        try await onStage { stage async throws in
            let page = try await stage.get("/docs/guide/first-sign-in")
            #expect(page.status == 200 && page.headers["content-type"] == "text/html; charset=utf-8")
            #expect(page.headers["content-security-policy"] == DocsPage.policy)
            #expect(try await stage.get("/docs/guide/first-sign-in.md").body == page.body)
            for (path, target) in GuidePages.moved {
                let answer = try await stage.get(path)
                #expect(answer.status == 308 && answer.headers["location"] == target)
                #expect(try await stage.get(target).status == 200)
            }
            let other = try await stage.get("/docs/guide/nothing")
            #expect(other.status == 404 && other.json["code"] == "not_found")
        }
    }
}
