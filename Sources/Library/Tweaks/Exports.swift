// The only public type of TweakFormats is FormatError, which reading a file of features throws.
@_exported public import TweakFormats
@_exported public import TweakOverrides
@_exported public import TweakRecords
