/// JSON pointers (RFC 6901), which name a place in a JSON text: `/answers/0/value`. The whole text is the empty one.
public enum JSONPointer {
    /// A pointer to a member or an element of the value that another pointer names.
    ///
    /// - Parameters:
    ///   - name: the member's name, with any characters, or the element's index.
    ///   - pointer: the object or array; by default the whole text.
    public static func appending(_ name: String, to pointer: String = "") -> String { "\(pointer)/\(escaped(name))" }

    /// A name in the form for a pointer, with escapes.
    public static func escaped(_ name: String) -> String { name.replacing("~", with: "~0").replacing("/", with: "~1") }
}
