//! Values that may be written in several forms, told apart by what they are in TOML.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads enums by what is written: something plain (a number, a text, a flag), a list or a table. They are not untagged
/// enums, which lose the places of what they hold.
macro_rules! by_form {
    ($($name:ident { $(plain $plain:ident,)? $(list $list:ident,)? $(table $table:ident,)? })*) => { $(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::format::forms::read(
                    deserializer,
                    $crate::format::forms::by_form!(@or_never $(Self::$plain)?),
                    $crate::format::forms::by_form!(@or_never $(Self::$list)?),
                    $crate::format::forms::by_form!(@or_never $(Self::$table)?),
                )
            }
        }
    )* };
    (@or_never) => { $crate::format::forms::never };
    (@or_never $form:expr) => { $form };
}
pub(crate) use by_form;

/// What cannot be written.
pub(crate) enum Never {}

pub(crate) fn never<T>(never: Never) -> T {
    match never {}
}

impl<'de> Deserialize<'de> for Never {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Err(D::Error::custom("this must be written in another form"))
    }
}

/// Reads a value in one of three forms.
pub(crate) fn read<'de, D, A, B, C, T>(
    deserializer: D,
    plain: fn(A) -> T,
    list: fn(B) -> T,
    table: fn(C) -> T,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    A: Deserialize<'de>,
    B: Deserialize<'de>,
    C: Deserialize<'de>,
{
    deserializer.deserialize_any(Forms {
        plain,
        list,
        table,
        lifetime: PhantomData,
    })
}

struct Forms<'de, A, B, C, T> {
    plain: fn(A) -> T,
    list: fn(B) -> T,
    table: fn(C) -> T,
    lifetime: PhantomData<&'de ()>,
}

impl<'de, A, B, C, T> Visitor<'de> for Forms<'de, A, B, C, T>
where
    A: Deserialize<'de>,
    B: Deserialize<'de>,
    C: Deserialize<'de>,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("another form")
    }
    fn visit_bool<E: Error>(self, flag: bool) -> Result<T, E> {
        A::deserialize(flag.into_deserializer()).map(self.plain)
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        A::deserialize(number.into_deserializer()).map(self.plain)
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        A::deserialize(number.into_deserializer()).map(self.plain)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        A::deserialize(text.into_deserializer()).map(self.plain)
    }
    fn visit_seq<S: SeqAccess<'de>>(self, list: S) -> Result<T, S::Error> {
        B::deserialize(SeqAccessDeserializer::new(list)).map(self.list)
    }
    fn visit_map<M: MapAccess<'de>>(self, table: M) -> Result<T, M::Error> {
        C::deserialize(MapAccessDeserializer::new(table)).map(self.table)
    }
}
