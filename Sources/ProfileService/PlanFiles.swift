import Documents
import ServiceRuntime

/// The plans and the libraries of fields that a replica has at its start: those of a folder, then those of this release.
struct PlanFiles: Sendable {
    private(set) var plans: [DocumentFile<PlanDocument>] = []
    private(set) var libraries: [DocumentFile<FieldLibraryDocument>] = []

    private static let shipped = Result { () throws(DocumentError) in
        var plans: [PlanDocument] = []
        for file in EmbeddedFiles.Plans.all { plans.append(try PlanDocument(file.bytes)) }
        return (plans, try FieldLibrary.shippedDocument.get())
    }

    /// - Parameter folder: its file `fields.json` is a library, and each other file is a plan; `nil` if there is no
    ///   folder.
    /// - Throws: ``DocumentFileRefused``; ``DocumentError`` about a file of this release.
    init(folder: String?) throws {
        for file in try Self.files(in: folder) {
            let (path, bytes) = (file.path, file.bytes)
            do {
                if path.hasSuffix("/fields.json") {
                    libraries.append(DocumentFile(try FieldLibraryDocument(bytes), path: path))
                } else {
                    let plan = try PlanDocument(bytes)
                    if let other = plans.first(where: { $0.document.key == plan.key })?.path {
                        throw DocumentFileRefused("\(path) cannot be used: \(other) has the plan \(plan.key) already")
                    }
                    plans.append(DocumentFile(plan, path: path))
                }
            } catch let error as DocumentError {
                throw DocumentFileRefused(path, error)
            }
        }
        let (shipped, library) = try Self.shipped.get()
        plans += shipped.map { DocumentFile($0, path: nil) }
        libraries.append(DocumentFile(library, path: nil))
    }

    private static func files(in folder: String?) throws -> [(path: String, bytes: [UInt8])] {
        guard let folder else { return [] }
        return try DocumentFolder.read(folder)
    }
}
