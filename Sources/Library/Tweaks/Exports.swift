// SPDX-License-Identifier: BSD-3-Clause

// The only public type of TweakFormats is FormatError, which reading a file of features throws.
@_exported public import TweakFormats
@_exported public import TweakOverrides
@_exported public import TweakRecords
