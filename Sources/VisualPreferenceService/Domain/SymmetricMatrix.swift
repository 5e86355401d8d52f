/// A symmetric matrix in one array, row after row. It holds the few parameters of one person's fit.
struct SymmetricMatrix: Sendable, Equatable {
    let size: Int
    private(set) var values: [Double]

    /// A matrix with one value on the diagonal and 0 elsewhere.
    init(size: Int, diagonal: Double) {
        (self.size, values) = (size, [Double](repeating: 0, count: size * size))
        for index in 0..<size { values[index * size + index] = diagonal }
    }

    subscript(row: Int, column: Int) -> Double { values[row * size + column] }

    /// Adds `factor` · `vector` · `vector`ᵀ.
    mutating func add(_ vector: [Double], times factor: Double) {
        for row in 0..<size where vector[row] != 0 {
            let scaled = factor * vector[row]
            for column in 0..<size { values[row * size + column] += scaled * vector[column] }
        }
    }

    func times(_ vector: [Double]) -> [Double] {
        (0..<size).map { row in
            var sum = 0.0
            for column in 0..<size { sum += values[row * size + column] * vector[column] }
            return sum
        }
    }

    /// The inverse of a positive definite matrix, by its Cholesky factor.
    var inverse: SymmetricMatrix {
        let factor = cholesky
        var inverse = SymmetricMatrix(size: size, diagonal: 0)
        for column in 0..<size {
            var unit = [Double](repeating: 0, count: size)
            unit[column] = 1
            let solved = Self.solve(factor, size, unit)
            for row in 0..<size { inverse.values[row * size + column] = solved[row] }
        }
        return inverse
    }

    /// Solves the equations of a positive definite matrix.
    func solution(of right: [Double]) -> [Double] { Self.solve(cholesky, size, right) }

    /// The lower triangle whose product with its transpose is this matrix.
    private var cholesky: [Double] {
        var factor = [Double](repeating: 0, count: size * size)
        for row in 0..<size {
            for column in 0...row {
                var sum = values[row * size + column]
                for index in 0..<column { sum -= factor[row * size + index] * factor[column * size + index] }
                factor[row * size + column] =
                    row == column ? sum.squareRoot() : sum / factor[column * size + column]
            }
        }
        return factor
    }

    private static func solve(_ factor: [Double], _ size: Int, _ right: [Double]) -> [Double] {
        var solution = right
        for row in 0..<size {
            for index in 0..<row { solution[row] -= factor[row * size + index] * solution[index] }
            solution[row] /= factor[row * size + row]
        }
        for row in (0..<size).reversed() {
            for index in row + 1..<max(size, row + 1) {
                solution[row] -= factor[index * size + row] * solution[index]
            }
            solution[row] /= factor[row * size + row]
        }
        return solution
    }
}
