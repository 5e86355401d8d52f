import Testing
import Values

@Suite("Entity tags") struct EntityTagTests {
    static let tag = EntityTag(revision: 7)

    @Test(
        "If-Match names a tag, a list that has it, or any tag",
        arguments: ["*", #""r7""#, #""r6", "r7""#, #""r7" ,  "r8""#, #""r6","r7-0a1b2c3d""#])
    func names(header: String) { #expect(Self.tag.isNamed(by: header)) }

    @Test(
        "If-Match does not name a tag by a weak tag, a part of it, or a star in a list",
        arguments: ["", "r7", #""r70""#, #""r7"#, #"W/"r7""#, #""r6", W/"r7""#, #"W/"r7-0a1b2c3d""#, #""r6", *"#])
    func doesNotName(header: String) { #expect(!Self.tag.isNamed(by: header)) }
}
