/// JSON pointers (RFC 6901), which name a place in a JSON text: `/answers/0/value`. The whole text is the empty one.
public enum JSONPointer {
    /// A pointer to a member or an element of what another pointer leads to.
    ///
    /// - Parameters:
    ///   - name: the member's name, with any characters, or the element's index.
    ///   - pointer: where the member is; by default the whole text.
    public static func appending(_ name: String, to pointer: String = "") -> String { "\(pointer)/\(escaped(name))" }

    /// A name in the form that a pointer has.
    public static func escaped(_ name: String) -> String { name.replacing("~", with: "~0").replacing("/", with: "~1") }
}
