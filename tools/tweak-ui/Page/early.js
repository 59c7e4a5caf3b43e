// Connects with the server while the other modules of the page are still on their way.

import { API } from "./api.js";
import { placeOf } from "./names.js";

export const api = new API();
const { token, program } = placeOf(location.hash);
// With a token there is a session to be had first.
if (api.hasSession && !token) api.begin(program);
