// SPDX-License-Identifier: BSD-3-Clause

extension Dictionary {
    /// Adds the values of another dictionary for keys that this one does not have. Embedded Swift has no `merge`.
    mutating func addMissing(_ other: Self) {
        if isEmpty {
            self = other
            return
        }
        for (key, value) in other where index(forKey: key) == nil { updateValue(value, forKey: key) }
    }
}
