import Foundation

/// A place on the earth as a point of a sphere with the radius 1.
struct SpherePoint: Sendable {
    private let x: Double
    private let y: Double
    private let z: Double

    /// Takes degrees.
    init(latitude: Double, longitude: Double) {
        let (north, east) = (latitude * .pi / 180, longitude * .pi / 180)
        (x, y, z) = (cos(north) * cos(east), cos(north) * sin(east), sin(north))
    }

    /// The square of the straight distance through the sphere. It grows with the distance on the ground, so it orders
    /// places in the same way.
    func squaredDistance(to other: SpherePoint) -> Double {
        let (x, y, z) = (x - other.x, y - other.y, z - other.z)
        return x * x + y * y + z * z
    }
}
